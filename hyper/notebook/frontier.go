package notebook

import (
	"math"
	"slices"

	"github.com/janpfeifer/must"
	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/plot"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// FrontierPoints returns the points of figure 2 by the committed studies. The points of the study with 100 arms and 400
// runs replace those with fewer runs.
func FrontierPoints() []paper.FrontierPoint {
	points := must.M1(paper.FrontierOf(Study("frontier/*")))
	for _, more := range must.M1(paper.FrontierOf(Study("frontier/k100/*"))) {
		for i, p := range points {
			if p.Agent == more.Agent && p.Integrate == more.Integrate && p.Arms == more.Arms && p.Bound == more.Bound {
				points[i] = more
			}
		}
	}
	return points
}

// Frontier draws figure 2 in two panels for each bound of regret that has points, see [paper.RegretBound]. The first panel has
// the least computation of the agents below the bound, against the number of arms. The second has an ensemble's
// computation divided by the linear hypermodel's, with the paper's 50 and 100. Vertical lines are 95% intervals, dashed
// if an interval is open on one side.
func Frontier(points []paper.FrontierPoint) (panels []*gonum.Plot) {
	titles := map[paper.RegretBound]string{paper.PerformsWell: "regret below 0.01 √K",
		paper.TwiceExact: "regret below twice that of exact TS"}
	first, last := math.Inf(1), 0.0
	for _, p := range points {
		first, last = min(first, float64(p.Arms)/1.3), max(last, float64(p.Arms)*1.5)
	}
	for _, bound := range paper.RegretBounds {
		some := slices.DeleteFunc(slices.Clone(points), func(p paper.FrontierPoint) bool {
			return p.Bound != bound ||
				p.Setting == nil
		})
		if len(some) == 0 {
			continue
		}
		axes := plot.Axes{Title: "Least computation: " + titles[bound], X: "arms K",
			Y: "operations per period, by the formula", LogX: true, LogY: true, MinX: first, MaxX: last,
			Beside: true}
		computation := frontierPanel(axes, some, func(p paper.FrontierPoint) stats.Estimate { return p.Computation })
		axes.Title, axes.Y = "Ensemble over linear: "+titles[bound], "ratio of computation"
		ratio := frontierPanel(axes, some, func(p paper.FrontierPoint) stats.Estimate { return p.Ratio },
			plot.Series{Label: "the paper's 50 and 100", X: []float64{first, last}, Y: []float64{50, 50},
				Color: plot.Gray, Dashed: true},
			plot.Series{X: []float64{first, last}, Y: []float64{100, 100}, Color: plot.Gray, Dashed: true})
		panels = append(panels, computation, ratio)
	}
	return panels
}

// frontierPanel draws an estimate at the points that have one, with a line for each agent and training method.
func frontierPanel(axes plot.Axes, points []paper.FrontierPoint, estimate func(paper.FrontierPoint) stats.Estimate,
	series ...plot.Series) *gonum.Plot {
	low, high := edges(points, estimate)
	agents := paper.Frontier.Order[:2] // without exact Thompson sampling
	lines := plot.Styled(slices.Repeat(agents, int(train.Exact))...)
	for _, p := range points {
		e := estimate(p)
		if math.IsNaN(float64(e.Value)) {
			continue
		}
		way := int(enum.Of[train.Integration](p.Integrate) - train.Sampled)
		n := len(agents)*way + slices.Index(agents, p.Agent)
		line := &lines[n]
		line.Label = p.Agent + ", " + p.Integrate
		x := float64(p.Arms) * math.Pow(1.04, float64(n)) // shifted, so that intervals do not overlap
		line.X, line.Y = append(line.X, x), append(line.Y, float64(e.Value))
		lower, upper := float64(e.Lower), float64(e.Upper)
		series = append(series, plot.Series{X: []float64{x, x}, Y: []float64{max(lower, low), min(upper, high)},
			Color: line.Color, Dashed: lower < low || upper > high})
	}
	for _, line := range lines {
		series = append(series, line, plot.Series{X: line.X, Y: line.Y, Points: true, Color: line.Color})
	}
	return must.M1(plot.Lines(axes, series...))
}

// edges returns a third of the least and three times the greatest end of the intervals. Open intervals are drawn up to
// these values.
func edges(points []paper.FrontierPoint, estimate func(paper.FrontierPoint) stats.Estimate) (low, high float64) {
	low, high = math.Inf(1), 0
	for _, p := range points {
		e := estimate(p)
		for _, x := range []float64{float64(e.Lower), float64(e.Value), float64(e.Upper)} {
			if x > 0 && !math.IsInf(x, 1) {
				low, high = min(low, x/3), max(high, 3*x)
			}
		}
	}
	return low, high
}

// LimitsTable returns a table of the regret that agents must have, and of the target of figure 2. Brackets have 95%
// intervals.
func LimitsTable(limits []paper.FrontierLimit) *Table {
	t := NewTable("arms", "target $0.01\\sqrt K$", "least of any agent", "exact Thompson sampling", "runs")
	for _, l := range limits {
		t.Rowf("%d | %.4f | %.4f | %.4f [%.4f, %.4f] | %d", l.Arms, l.Target, l.Least, l.Exact.Value, l.Exact.Lower,
			l.Exact.Upper, l.Runs)
	}
	return t
}
