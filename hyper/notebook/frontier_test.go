package notebook

import (
	"math"
	"os"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/plot"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

func estimate(value, lower, upper float64) stats.Estimate {
	return stats.Estimate{Value: stats.Float(value), Lower: stats.Float(lower), Upper: stats.Float(upper)}
}

// madeUpFrontier returns points with all special cases: intervals that are open, intervals of a single value, and a
// point at which no setting performs well.
func madeUpFrontier() []paper.FrontierPoint {
	none := estimate(math.NaN(), math.NaN(), math.NaN())
	point := func(agent, integrate, found string, computation, ratio stats.Estimate) paper.FrontierPoint {
		return paper.FrontierPoint{Agent: agent, Integrate: integrate, Arms: 10, Bound: paper.PerformsWell,
			Setting:     []string{"arms=10", "integrate=" + integrate, found},
			Computation: computation, Average: estimate(0.03, 0.02, 0.031), Runs: 100, Ratio: ratio}
	}
	return []paper.FrontierPoint{
		point("linear", "sampled", "index-dim=2", estimate(2e4, 2e4, 2e4), none),
		point("ensemble", "sampled", "particles=30", estimate(8e4, 4e4, math.Inf(1)), estimate(4, 0, math.Inf(1))),
		point("ensemble", "analytic", "particles=30", estimate(3e5, 3e5, 4e5), none),
		{Agent: "linear", Integrate: "sampled", Arms: 30, Bound: paper.PerformsWell, Computation: none, Average: none,
			Runs: 100, Ratio: none},
	}
}

// Axes include all finite values, and little more for open intervals.
func TestFrontier(t *testing.T) {
	points := madeUpFrontier()
	panels := Frontier(points)
	if len(panels) != 2 {
		t.Fatalf("one bound: got %d panels, want 2", len(panels))
	}
	computation, ratio := panels[0], panels[1]
	for name, c := range map[string]struct{ got, from, to float64 }{
		"least computation":    {computation.Y.Min, 2e3, 2e4},
		"greatest computation": {computation.Y.Max, 1.2e6, 1e8},
		"least ratio":          {ratio.Y.Min, 0.4, 4. / 3},
		"greatest ratio":       {ratio.Y.Max, 100, 1e4}, // the paper's ratio is drawn
	} {
		if !(c.got >= c.from && c.got <= c.to) {
			t.Errorf("the axis of the %s ends at %v, want from %v to %v", name, c.got, c.from, c.to)
		}
	}
	if computation.X.Min != ratio.X.Min || computation.X.Max != ratio.X.Max {
		t.Errorf("got panels from %v to %v and from %v to %v arms", computation.X.Min, computation.X.Max, ratio.X.Min,
			ratio.X.Max)
	}
	for _, p := range madeUpFrontier() {
		p.Bound = paper.TwiceExact
		points = append(points, p)
	}
	if panels = Frontier(points); len(panels) != 4 || panels[0].Title.Text == panels[2].Title.Text ||
		panels[1].Y.Max != ratio.Y.Max {
		t.Errorf("two bars: got %d panels, want 4", len(panels))
	}
	must.M1(plot.Panels(2, 20, 10, 50, panels...))
}

// A name may have an extension. Without a file there are no lines.
func TestLines(t *testing.T) {
	t.Chdir(t.TempDir())
	if all := Lines[paper.FrontierPoint]("points"); all != nil {
		t.Errorf("without a file: got %v, want none", all)
	}
	must.M(os.Mkdir("results", 0o700))
	must.M(os.WriteFile("results/points.json", []byte("{\"agent\":\"ensemble\"}\n{\"agent\":\"linear\"}\n"), 0o600))
	for _, name := range []string{"points", "points.json"} {
		if all := Lines[paper.FrontierPoint](name); len(all) != 2 || all[1].Agent != "linear" {
			t.Errorf("%s: got %v, want 2 lines", name, all)
		}
	}
}

// The committed study has both agents with 10 arms, and every least setting performs well. The study of 400 runs
// replaces the points with 100 arms and the paper's algorithm.
func TestFrontierOfTheStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a large study")
	}
	t.Chdir("../../notebooks")
	points := FrontierPoints()
	ratios := 0
	for _, p := range points {
		if target := 0.01 * math.Sqrt(float64(p.Arms)); p.Bound == paper.PerformsWell && p.Setting != nil &&
			float64(p.Average.Upper) >= target {
			t.Errorf("%+v: the average regret is above %v", p, target)
		}
		if p.Arms == 10 && p.Ratio.Value > 0 {
			ratios++
		}
		if want := p.Arms == 100 && p.Integrate == "sampled" && p.Bound == paper.PerformsWell; want && p.Runs != 400 {
			t.Errorf("%+v has %d runs, want 400", p, p.Runs)
		}
	}
	if ratios == 0 {
		t.Errorf("points %+v have no ratio with 10 arms", points)
	}
	Frontier(points)
}

// The table of limits has a row for each number of arms in the study, from fewer to more.
func TestLimitsTable(t *testing.T) {
	has(t, LimitsTable([]paper.FrontierLimit{{Arms: 30, Target: 0.05477, Least: 0.00906,
		Exact: estimate(0.02, 0.01, 0.03), Runs: 7}}), "| 30 | 0.0548 | 0.0091 | 0.0200 [0.0100, 0.0300] | 7 |")
}
