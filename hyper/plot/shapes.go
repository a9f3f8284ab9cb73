package plot

import (
	"image/color"
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// shade fills the area between two curves. On a log axis a bound that is not positive reaches the edge of the plot.
type shade struct {
	x, lower, upper []float64
	color           color.NRGBA
}

func (s shade) Plot(c draw.Canvas, p *gonum.Plot) {
	for _, r := range stretches(p, false, s.x, s.lower, s.upper) {
		var area []vg.Point
		for i := r.from; i < r.to; i++ {
			area = append(area, at(c, p, s.x[i], s.upper[i]))
		}
		for i := r.to - 1; i >= r.from; i-- {
			area = append(area, at(c, p, s.x[i], s.lower[i]))
		}
		c.FillPolygon(s.color, c.ClipPolygonXY(area))
	}
}

// pieces returns the edges.
func (s shade) pieces(c draw.Canvas, p *gonum.Plot) [][]vg.Point {
	return append(stroke{x: s.x, y: s.lower}.pieces(c, p), stroke{x: s.x, y: s.upper}.pieces(c, p)...)
}

// Thumbnail draws the shade's patch in a legend.
func (s shade) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(s.color, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
}

// stroke draws a curve, with gaps where it is not finite.
type stroke struct {
	x, y []float64
	draw.LineStyle
}

func (s stroke) Plot(c draw.Canvas, p *gonum.Plot) {
	for _, line := range s.pieces(c, p) {
		c.StrokeLines(s.LineStyle, c.ClipLinesXY(line)...)
	}
}

// pieces returns the curve on the canvas.
func (s stroke) pieces(c draw.Canvas, p *gonum.Plot) (lines [][]vg.Point) {
	for _, r := range stretches(p, logarithmic(p.Y), s.x, s.y) {
		var line []vg.Point
		for i := r.from; i < r.to; i++ {
			line = append(line, at(c, p, s.x[i], s.y[i]))
		}
		lines = append(lines, line)
	}
	return lines
}

// Thumbnail draws a piece of the line in a legend.
func (s stroke) Thumbnail(c *draw.Canvas) {
	y := c.Center().Y
	c.StrokeLine2(s.LineStyle, c.Min.X, y, c.Max.X, y)
}

// dots draws data points.
type dots struct {
	x, y []float64
	draw.GlyphStyle
}

func (s dots) Plot(c draw.Canvas, p *gonum.Plot) {
	for _, dot := range s.pieces(c, p) {
		if c.Contains(dot[0]) {
			c.DrawGlyph(s.GlyphStyle, dot[0])
		}
	}
}

// pieces returns a short line from each point.
func (s dots) pieces(c draw.Canvas, p *gonum.Plot) (lines [][]vg.Point) {
	for _, line := range (stroke{x: s.x, y: s.y}).pieces(c, p) {
		for _, dot := range line {
			lines = append(lines, []vg.Point{dot, dot.Add(vg.Point{X: s.Radius})})
		}
	}
	return lines
}

// Thumbnail draws one point in a legend.
func (s dots) Thumbnail(c *draw.Canvas) { c.DrawGlyph(s.GlyphStyle, c.Center()) }

// stretch is the half-open range of positions of some consecutive points.
type stretch struct{ from, to int }

// stretches returns where x and all values are finite, and positive where a log axis needs that.
func stretches(p *gonum.Plot, logValues bool, x []float64, values ...[]float64) (out []stretch) {
	open := false
	for i := range x {
		ok := drawable(x[i], logarithmic(p.X))
		for _, v := range values {
			ok = ok && drawable(v[i], logValues)
		}
		if ok && open {
			out[len(out)-1].to++
		} else if ok {
			out = append(out, stretch{i, i + 1})
		}
		open = ok
	}
	return out
}

func logarithmic(a gonum.Axis) bool {
	_, ok := a.Scale.(gonum.LogScale)
	return ok
}

// drawable tells whether x has a place on an axis.
func drawable(x float64, log bool) bool {
	return !math.IsNaN(x) && !math.IsInf(x, 0) && (x > 0 || !log)
}

// at returns a point on the canvas. What a log axis cannot show is put just below it, where it is clipped.
func at(c draw.Canvas, p *gonum.Plot, x, y float64) vg.Point {
	if logarithmic(p.Y) {
		y = math.Max(y, p.Y.Min/1e3)
	}
	return vg.Point{X: c.X(p.X.Norm(x)), Y: c.Y(p.Y.Norm(y))}
}
