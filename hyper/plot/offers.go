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
// nothing, or of which a run diverged, has no place on these axes and is not drawn. It fails when there is not a name
// for each, and as Lines does.
func Offers(axes Axes, offers []lab.Offer, cost func(lab.Offer) (float64, lab.Place), names []string) (*gonum.Plot,
	error) {
	if len(names) != len(offers) {
		return nil, fmt.Errorf("%d names for %d offers: want one for each", len(names), len(offers))
	}
	costs, stands := make([]float64, len(offers)), make([]lab.Place, len(offers))
	for i, o := range offers {
		costs[i], stands[i] = cost(o)
	}
	axes.LogX, axes.LogY, axes.Beside = true, true, true
	drawn := func(i int) bool { return drawable(costs[i], true) && drawable(float64(offers[i].Regret.Upper), true) }
	var series []Series
	var points plotter.XYs // the upper ends of intervals
	var shown []string
	for _, place := range places {
		middles := Series{Label: string(place.Place), Points: true, Color: place.NRGBA}
		for i, o := range offers {
			if stands[i] != place.Place || !drawn(i) {
				continue
			}
			middles.X, middles.Y = append(middles.X, costs[i]), append(middles.Y, float64(o.Regret.Value))
			points = append(points, plotter.XY{X: costs[i], Y: float64(o.Regret.Upper)})
			shown = append(shown, names[i])
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
	p.Y.Max = p.Y.Min * math.Pow(p.Y.Max/p.Y.Min, 1/(1-namesShare))
	p.Add(&above{points, shown, p.X.Tick.Label})
	return p, nil
}

// namesShare is how much of the height is for the names of offers.
const namesShare = 0.4

// room leaves some beside the cheapest and the dearest, for their names.
func room(axes Axes, costs []float64) Axes {
	axes.MinX, axes.MaxX = math.Inf(1), 0
	for _, c := range costs {
		if drawable(c, true) {
			axes.MinX, axes.MaxX = min(axes.MinX, c/3), max(axes.MaxX, 5*c)
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
	for i, place := range apart(wanted, 1.5*style.FontExtents().Height, c.Min.X, c.Max.X) {
		n := order[i]
		top := vg.Point{X: place, Y: foot}
		c.StrokeLines(lead, []vg.Point{{X: wanted[i], Y: y(a.points[n].Y) + vg.Points(2)}, top})
		c.FillText(style, top.Add(vg.Point{Y: vg.Points(3)}), a.names[n])
	}
}
