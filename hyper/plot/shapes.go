package plot

import (
	"image/color"
	"math"
	"slices"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// pieces splits the points (x, y) where the axes cannot show one of them.
func (a Axes) pieces(x, y []float64) (out []plotter.XYs) {
	open := false
	for i := range y {
		ok := drawable(x[i], a.LogX) && drawable(y[i], a.LogY)
		if ok && !open {
			out = append(out, nil)
		}
		if ok {
			out[len(out)-1] = append(out[len(out)-1], plotter.XY{X: x[i], Y: y[i]})
		}
		open = ok
	}
	return out
}

// edges returns the pieces of a band's bounds, which are split at the same places. On a logarithmic axis, bounds are at
// least least, so that a bound that is not positive reaches the edge of the plot.
func (a Axes) edges(s Series, least float64) (lower, upper []plotter.XYs) {
	low, high := slices.Clone(s.Lower), slices.Clone(s.Upper)
	for i := range low {
		if !drawable(low[i], false) || !drawable(high[i], false) {
			low[i], high[i] = math.NaN(), math.NaN()
		} else if a.LogY {
			low[i], high[i] = max(low[i], least), max(high[i], least)
		}
	}
	return a.pieces(s.X, low), a.pieces(s.X, high)
}

// shade fills the area between two edges.
func shade(lower, upper plotter.XYs, c color.Color) *plotter.Polygon {
	ring := slices.Clone(lower)
	slices.Reverse(ring)
	return &plotter.Polygon{XYs: []plotter.XYs{append(slices.Clone(upper), ring...)}, Color: c}
}

// drawable reports whether an axis can show x.
func drawable(x float64, log bool) bool {
	return !math.IsNaN(x) && !math.IsInf(x, 0) && (x > 0 || !log)
}

// onCanvas returns the positions of points on a canvas.
func onCanvas(c draw.Canvas, p *gonum.Plot, points plotter.XYs) []vg.Point {
	out := make([]vg.Point, len(points))
	x, y := p.Transforms(&c)
	for i, at := range points {
		out[i] = vg.Point{X: x(at.X), Y: y(at.Y)}
	}
	return out
}
