package plot

import (
	"cmp"
	"fmt"
	"image/color"
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Estimates holds estimates of one kind, one for each name of a figure.
type Estimates struct {
	Label  string
	Values []stats.Estimate // NaN is not drawn
	Color  color.NRGBA      // zero means the palette's next colour
}

// Points draws estimates with their intervals above their names. Each kind has its own colour, and is shifted a little
// to the side. Points returns an error if a kind does not have one estimate for each name, or if nothing can be drawn.
func Points(axes Axes, names []string, kinds ...Estimates) (*gonum.Plot, error) {
	if len(names) == 0 {
		return nil, errNothing
	}
	p, drawn := newPlot(axes), 0
	p.NominalX(names...)
	p.X.Min, p.X.Max = -0.5, float64(len(names))-0.5
	for k, kind := range kinds {
		if len(kind.Values) != len(names) {
			return nil, fmt.Errorf("%d names for %d estimates of %q: give a name for each", len(names), len(kind.Values),
				kind.Label)
		}
		beside := 0.16 * (float64(k) - float64(len(kinds)-1)/2)
		points := errorPoints{}
		for i, e := range kind.Values {
			if v := float64(e.Value); !math.IsNaN(v) && !math.IsInf(v, 0) {
				points.add(float64(i)+beside, e)
			}
		}
		drawn += len(points.XYs)
		if err := points.draw(p, kind.Label, cmp.Or(kind.Color, Palette[k%len(Palette)])); err != nil {
			return nil, err
		}
	}
	if drawn == 0 {
		return nil, errNothing
	}
	p.Y.Min, p.Y.Max = bounds([]float64{p.Y.Min, p.Y.Max}, axes.LogY, axes.FromZero, 0.05)
	p.Legend.Top, p.Legend.Padding = true, vg.Points(2)
	return p, nil
}

// errorPoints holds points with intervals.
type errorPoints struct {
	plotter.XYs
	plotter.YErrors
}

func (e *errorPoints) add(x float64, of stats.Estimate) {
	v := float64(of.Value)
	length := func(to stats.Float) float64 {
		if d := math.Abs(float64(to) - v); !math.IsNaN(d) && !math.IsInf(d, 0) {
			return d
		}
		return 0
	}
	e.XYs = append(e.XYs, plotter.XY{X: x, Y: v})
	e.YErrors = append(e.YErrors, struct{ Low, High float64 }{length(of.Lower), length(of.Upper)})
}

func (e errorPoints) draw(p *gonum.Plot, label string, c color.NRGBA) error {
	if len(e.XYs) == 0 {
		return nil
	}
	bars, err := plotter.NewYErrorBars(e)
	if err != nil {
		return err
	}
	points, err := plotter.NewScatter(e.XYs)
	if err != nil {
		return err
	}
	bars.Color, bars.CapWidth = c, vg.Points(4)
	points.Color, points.Radius, points.Shape = c, vg.Points(3), draw.CircleGlyph{}
	p.Add(bars, points)
	if label != "" {
		p.Legend.Add(label, points)
	}
	return nil
}
