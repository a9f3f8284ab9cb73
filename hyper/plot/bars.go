package plot

import (
	"errors"
	"fmt"
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Bars draws a bar for each value, with its name below. The axis begins at 0. Bars returns an error if the numbers of
// names and values differ, or if a value is not finite.
func Bars(axes Axes, names []string, values []float64) (*gonum.Plot, error) {
	if len(values) == 0 || len(names) != len(values) {
		return nil, fmt.Errorf("%d names for %d values: give values, and a name for each", len(names), len(values))
	}
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("the value of %s is %v", names[i], v)
		}
	}
	bars, err := plotter.NewBarChart(plotter.Values(values), vg.Points(18))
	if err != nil {
		return nil, err
	}
	bars.Color, bars.LineStyle.Width = Palette[0], 0
	p := newPlot(axes)
	p.Add(bars)
	p.NominalX(names...)
	p.X.Padding = 3
	p.X.Min, p.X.Max = -0.5, float64(len(values))-0.5
	return p, nil
}

// Names writes a name next to each point (x, y) of a plot: below the point, or above it if another point is close
// below. It returns an error if the numbers of points and names differ.
func Names(p *gonum.Plot, x, y []float64, names []string) error {
	if len(x) != len(y) || len(x) != len(names) {
		return fmt.Errorf("%d names for %d x and %d y: give the same number of each", len(names), len(x), len(y))
	}
	var below, above plotter.XYLabels
	for i := range x {
		side := &below
		if closeBelow(p, x, y, i) {
			side = &above
		}
		side.XYs = append(side.XYs, plotter.XY{X: x[i], Y: y[i]})
		side.Labels = append(side.Labels, names[i])
	}
	return errors.Join(write(p, below, -13), write(p, above, 3))
}

// closeBelow reports whether a point is so close below the i-th that the names below both would overlap.
func closeBelow(p *gonum.Plot, x, y []float64, i int) bool {
	for j := range x {
		dx, dy := p.X.Norm(x[j])-p.X.Norm(x[i]), p.Y.Norm(y[i])-p.Y.Norm(y[j])
		if j != i && math.Abs(dx) < 0.25 && dy >= 0 && dy < 0.1 && (dy > 0 || j < i) {
			return true
		}
	}
	return false
}

// write writes names at a distance above their points.
func write(p *gonum.Plot, names plotter.XYLabels, points float64) error {
	if len(names.Labels) == 0 {
		return nil
	}
	l, err := plotter.NewLabels(names)
	if err != nil {
		return err
	}
	for i := range l.TextStyle {
		l.TextStyle[i].Font = p.X.Label.TextStyle.Font
	}
	l.Offset.X, l.Offset.Y = vg.Points(5), vg.Points(points)
	p.Add(l)
	return nil
}
