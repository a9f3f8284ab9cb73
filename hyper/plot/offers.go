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

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// places are the colors of offers.
var places = []struct {
	lab.Place
	color.NRGBA
}{{lab.OnFrontier, Palette[0]}, {lab.OpenPlace, Gray}, {lab.OffIt, Palette[1]}}

// Offers draws what agents cost, in one of their two costs, against the regret that they have for that, each with its
// name and the 95% interval of its mean regret, on log axes. The color says where the offer stands. An offer that costs
// nothing, or whose regret has no interval, has no place on these axes and is not drawn. It fails when there is not a
// name for each, and as Lines does.
func Offers(axes Axes, offers []lab.Offer, cost func(lab.Offer) (float64, lab.Place), names []string) (*gonum.Plot,
	error) {
	if len(names) != len(offers) {
		return nil, fmt.Errorf("%d names for %d offers: want one for each", len(names), len(offers))
	}
	costs, stands := make([]float64, len(offers)), make([]lab.Place, len(offers))
	for i, o := range offers {
		costs[i], stands[i] = cost(o)
	}
	axes.LogX, axes.LogY = true, true
	drawn := func(i int) bool { return drawable(costs[i], true) && drawable(float64(offers[i].Regret.Upper), true) }
	var series []Series
	var x, upper []float64 // the upper ends of intervals
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
	p.Y.Min /= 1.6 // for the legend
	return p, NamesAbove(p, x, upper, shown)
}

// NamesAbove writes a name for each point (x, y) of a plot, side by side above all that is drawn, each with a line to its
// point: no two names meet. It extends the vertical axis, which must be logarithmic, to make room. It fails when there is
// not a name for each.
func NamesAbove(p *gonum.Plot, x, y []float64, names []string) error {
	if len(x) != len(y) || len(x) != len(names) {
		return fmt.Errorf("%d names for %d x and %d y: want as many of each", len(names), len(x), len(y))
	}
	p.Y.Max = p.Y.Min * math.Pow(p.Y.Max/p.Y.Min, 1/(1-namesShare))
	points := make(plotter.XYs, len(x))
	for i := range x {
		points[i] = plotter.XY{X: x[i], Y: y[i]}
	}
	p.Add(&above{points, names, p.X.Tick.Label})
	return nil
}

// namesShare is how much of the height is for names above.
const namesShare = 0.4

// room leaves some beside the cheapest and the dearest.
func room(axes Axes, costs []float64) Axes {
	axes.MinX, axes.MaxX = math.Inf(1), 0
	for _, c := range costs {
		if drawable(c, true) {
			axes.MinX, axes.MaxX = min(axes.MinX, c/2), max(axes.MaxX, 1.5*c)
		}
	}
	return axes
}

// above is names that rise side by side over the figure, each with a line to its point: no two meet.
type above struct {
	points plotter.XYs
	names  []string
	text.Style
}

// GlyphBoxes implements gonum's GlyphBoxer: it keeps room for the names right of the axes.
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
