package plot

import (
	"fmt"
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars draws a bar for each value, with its name below. The axis begins at 0. Bars returns an error if the numbers of
// names and values differ, or if a value is not finite.
func Bars(axes Axes, names []string, values []float64) (*gonum.Plot, error) {
	if len(values) == 0 || len(names) != len(values) {
		return nil, fmt.Errorf("%d names for %d values: give values, and a name for each", len(names), len(values))
	}
	for i, v := range values {
		if !drawable(v, false) {
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

// Names writes a name next to each point (x, y) of a plot, where it covers the least of other points and names. It
// returns an error if the numbers of points and names differ.
func Names(p *gonum.Plot, x, y []float64, names []string) error {
	if len(x) != len(y) || len(x) != len(names) {
		return fmt.Errorf("%d names for %d x and %d y: give the same number of each", len(names), len(x), len(y))
	}
	style := p.Legend.TextStyle
	style.XAlign, style.YAlign = text.XLeft, text.YBottom
	p.Add(pointNames{x, y, names, style})
	return nil
}

type pointNames struct {
	x, y  []float64
	names []string
	style text.Style
}

// Plot implements gonum's Plotter.
func (n pointNames) Plot(c draw.Canvas, p *gonum.Plot) {
	toX, toY := p.Transforms(&c)
	var points, sizes []vg.Point
	for i, name := range n.names {
		points = append(points, vg.Point{X: toX(n.x[i]), Y: toY(n.y[i])})
		sizes = append(sizes, vg.Point{X: n.style.Width(name), Y: n.style.Height(name)})
	}
	for i, box := range besides(points, sizes, c.Rectangle) {
		c.FillText(n.style, box.Min, n.names[i])
	}
}

// besides returns boxes of the given sizes, one near each point. A box lies at one of eight places around its point,
// where it covers the least of other points, earlier boxes and the outside of the canvas.
func besides(points, sizes []vg.Point, canvas vg.Rectangle) (boxes []vg.Rectangle) {
	const aside, over = vg.Length(5), vg.Length(3)
	var dots []vg.Rectangle
	for _, at := range points {
		dots = append(dots, vg.Rectangle{Min: at.Sub(vg.Point{X: over, Y: over}), Max: at.Add(vg.Point{X: over, Y: over})})
	}
	for i, size := range sizes {
		right, left, middle := points[i].X+aside, points[i].X-aside-size.X, points[i].X-size.X/2
		below, above, level := points[i].Y-over-size.Y, points[i].Y+over, points[i].Y-size.Y/2
		least, best := math.Inf(1), vg.Rectangle{}
		for _, corner := range []vg.Point{{X: right, Y: below}, {X: right, Y: above}, {X: left, Y: below},
			{X: left, Y: above}, {X: right, Y: level}, {X: left, Y: level}, {X: middle, Y: above}, {X: middle, Y: below}} {
			box := vg.Rectangle{Min: corner, Max: corner.Add(size)}
			hidden := 10 * (float64(size.X*size.Y) - common(box, canvas))
			for j, dot := range dots {
				if j != i {
					hidden += 100 * common(box, dot)
				}
			}
			for _, other := range boxes {
				hidden += common(box, other)
			}
			if hidden < least-1e-9 {
				least, best = hidden, box
			}
		}
		boxes = append(boxes, best)
	}
	return boxes
}

// common returns the area of the intersection of two rectangles.
func common(a, b vg.Rectangle) float64 {
	width := min(a.Max.X, b.Max.X) - max(a.Min.X, b.Min.X)
	height := min(a.Max.Y, b.Max.Y) - max(a.Min.Y, b.Min.Y)
	return float64(max(width, 0) * max(height, 0))
}
