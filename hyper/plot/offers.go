package plot

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/hypermodels/hypermodels/hyper/analysis"
)

// places has the colours of offers.
var places = []struct {
	analysis.Place
	color.NRGBA
}{{analysis.OnFrontier, Palette[0]}, {analysis.Unplaced, Gray}, {analysis.OffFrontier, Palette[1]}}

// Offers draws the costs of agents, one of their two costs, against their regrets on logarithmic axes, each with its
// name and the 95% interval of its mean regret. The colour shows the offer's position relative to the frontier. An
// offer without cost, or without an interval of its regret, cannot be drawn on these axes and is left out. Offers
// returns an error if the numbers of names and offers differ, and the errors of Lines.
func Offers(axes Axes, offers []analysis.Tradeoff, cost func(analysis.Tradeoff) (float64, analysis.Place),
	names []string) (*gonum.Plot, error) {
	if len(names) != len(offers) {
		return nil, fmt.Errorf("%d names for %d offers: give one for each", len(names), len(offers))
	}
	costs, stands := make([]float64, len(offers)), make([]analysis.Place, len(offers))
	for i, o := range offers {
		costs[i], stands[i] = cost(o)
	}
	axes.LogX, axes.LogY = true, true
	drawn := func(i int) bool { return drawable(costs[i], true) && drawable(float64(offers[i].Regret.Upper), true) }
	var series []Series
	var x, upper []float64 // upper ends of the intervals
	var shown []string
	for _, place := range places {
		middles := Series{Label: string(place.Place), Points: true, Color: place.NRGBA}
		for i, o := range offers {
			if stands[i] != place.Place || !drawn(i) {
				continue
			}
			middles.X, middles.Y = append(middles.X, costs[i]), append(middles.Y, float64(o.Regret.Value))
			x, upper, shown = append(x, costs[i]), append(upper, float64(o.Regret.Upper)), append(shown, names[i])
			series = append(series, Series{X: []float64{costs[i], costs[i]}, Color: place.NRGBA,
				Y: []float64{float64(o.Regret.Lower), float64(o.Regret.Upper)}})
		}
		if len(middles.X) > 0 {
			series = append(series, middles)
		}
	}
	p, err := lines(room(axes, costs), []corner{bottomLeft, bottomRight}, series)
	if err != nil {
		return nil, err
	}
	p.Y.Min /= 1.6 // space for the legend
	writeAbove(p, x, upper, shown)
	return p, nil
}

// writeAbove writes a name for each point (x, y) of a plot. The names are next to each other above the data, with lines
// to their points, and do not overlap. The vertical axis, which must be logarithmic, is extended.
func writeAbove(p *gonum.Plot, x, y []float64, names []string) {
	p.Y.Max = p.Y.Min * math.Pow(p.Y.Max/p.Y.Min, 1/(1-namesShare))
	points := make(plotter.XYs, len(x))
	for i := range x {
		points[i] = plotter.XY{X: x[i], Y: y[i]}
	}
	p.Add(&above{points, names, p.X.Tick.Label})
}

// namesShare is the share of the height for names above the data.
const namesShare = 0.4

// room returns axes that leave space beside the lowest and the highest cost.
func room(axes Axes, costs []float64) Axes {
	axes.MinX, axes.MaxX = math.Inf(1), 0
	for _, c := range costs {
		if drawable(c, true) {
			axes.MinX, axes.MaxX = min(axes.MinX, c/2), max(axes.MaxX, 1.5*c)
		}
	}
	return axes
}

// above draws names next to each other above the figure, with lines to their points. Names do not overlap.
type above struct {
	points plotter.XYs
	names  []string
	text.Style
}

// GlyphBoxes implements gonum's GlyphBoxer: it reserves space for the names right of the axes.
func (a *above) GlyphBoxes(p *gonum.Plot) (boxes []gonum.GlyphBox) {
	for i, at := range a.points {
		width := (a.Width(a.names[i]) + 2*a.FontExtents().Height) * math.Sqrt2 / 2
		boxes = append(boxes, gonum.GlyphBox{X: p.X.Norm(at.X), Rectangle: vg.Rectangle{Max: vg.Point{X: width}}})
	}
	return boxes
}

// Plot implements gonum's Plotter.
func (a *above) Plot(c draw.Canvas, p *gonum.Plot) {
	x, y := p.Transforms(&c)
	order := make([]int, len(a.points))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(a.points[i].X, a.points[j].X) })
	wanted := make([]vg.Length, len(order))
	for i, n := range order {
		wanted[i] = x(a.points[n].X)
	}
	style := a.Style
	style.XAlign, style.YAlign, style.Rotation = text.XLeft, text.YCenter, math.Pi/4
	foot := c.Max.Y - vg.Length(namesShare-0.06)*(c.Max.Y-c.Min.Y)
	lead := draw.LineStyle{Color: gridColor, Width: vg.Points(thinWidth)}
	for i, place := range apart(wanted, 1.9*style.FontExtents().Height, c.Min.X, c.Max.X) {
		n := order[i]
		top := vg.Point{X: place, Y: foot}
		c.StrokeLines(lead, []vg.Point{{X: wanted[i], Y: y(a.points[n].Y) + vg.Points(2)}, top})
		c.FillText(style, top.Add(vg.Point{Y: vg.Points(3)}), a.names[n])
	}
}
