package notebook

import (
	"fmt"
	"image/color"

	"github.com/janpfeifer/must"
	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/hypermodels/hypermodels/hyper/plot"
)

// planeSize is the number of points of a grid in each direction.
const planeSize = 50

// Grid returns the points of a grid of 50 by 50 points in the square from -limit to limit, for [Plane] and [Shades].
func Grid(limit float64) (x [][]float32) {
	for i := range planeSize * planeSize {
		x = append(x, []float32{float32(planeAt(limit, i%planeSize)), float32(planeAt(limit, i/planeSize))})
	}
	return x
}

func planeAt(limit float64, i int) float64 { return limit * (2*float64(i)/(planeSize-1) - 1) }

// Plane draws probabilities at the points of [Grid] as colours: 0 is blue, and 1 is red. Over them are data: circles
// for class 0, crosses for class 1, and so on.
func Plane(title string, limit float64, values []float32, x [][]float32, class [][]int32) *gonum.Plot {
	return coloured(title, plane{limit, values}, moreland.SmoothBlueRed().Palette(shades).Colors(), 1, x, class)
}

// Shades is like [Plane], for numbers from 0 to most, in shades of green: 0 is white.
func Shades(title string, limit float64, values []float32, most float64, x [][]float32, class [][]int32) *gonum.Plot {
	var colors []color.Color
	for i := range shades {
		less := func(c uint8) uint8 { return 255 - uint8(float64(255-c)*float64(i)/(shades-1)) }
		colors = append(colors, color.NRGBA{less(plot.Palette[2].R), less(plot.Palette[2].G), less(plot.Palette[2].B), 255})
	}
	return coloured(title, plane{limit, values}, colors, most, x, class)
}

// Border adds the lines on which values at the points of [Grid] change their sign to a plot of [Plane] or [Shades].
func Border(p *gonum.Plot, limit float64, values []float32) {
	c := plotter.NewContour(plane{limit, values}, []float64{0}, nil)
	c.LineStyles = []draw.LineStyle{{Color: color.Black, Width: vg.Points(0.8)}}
	p.Add(c)
}

// shades is the number of colours of a plane.
const shades = 100

// coloured draws numbers from 0 to most in colours, with a colour bar, and data.
func coloured(title string, f plane, colors []color.Color, most float64, x [][]float32, class [][]int32) *gonum.Plot {
	if len(f.values) != planeSize*planeSize {
		panic(fmt.Errorf("notebook: got %d values, want one for each of the %d points of Grid", len(f.values),
			planeSize*planeSize))
	}
	edge := f.limit * planeSize / (planeSize - 1) // the edge of the outermost cells of the heat map
	square := []float64{-edge, edge}
	p := must.M1(plot.Lines(plot.Axes{Title: title}, plot.Series{X: square, Y: square, Color: color.NRGBA{A: 1}}))
	heat := plotter.NewHeatMap(f, listed(colors))
	heat.Min, heat.Max, heat.Rasterized = 0, most, true
	heat.Underflow, heat.Overflow = colors[0], colors[len(colors)-1]
	p.Add(heat, scale{colors, most, p.Legend.TextStyle})
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.CrossGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}}
	for i, at := range x {
		one := must.M1(plotter.NewScatter(plotter.XYs{{X: float64(at[0]), Y: float64(at[1])}}))
		one.Shape, one.Radius = shapes[int(class[i][0])%len(shapes)], vg.Points(2.5)
		p.Add(one)
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -edge, edge, -edge, edge
	return p
}

// listed is a palette of gonum.
type listed []color.Color

func (l listed) Colors() []color.Color { return l }

// scale is a colour bar right of the axes.
type scale struct {
	colors []color.Color
	most   float64
	text.Style
}

// Lengths of a colour bar in points.
const scaleInset, scaleWidth, scaleGap = vg.Length(7), vg.Length(8), vg.Length(3)

func (s scale) labels() (at []float64, texts []string) {
	for i := range 3 {
		at = append(at, float64(i)/2)
		texts = append(texts, fmt.Sprintf("%.2g", at[i]*s.most))
	}
	return at, texts
}

// Plot implements gonum's Plotter.
func (s scale) Plot(c draw.Canvas, _ *gonum.Plot) {
	left, height := c.Max.X+scaleInset, c.Max.Y-c.Min.Y
	for i, shade := range s.colors {
		low := c.Min.Y + height*vg.Length(i)/vg.Length(len(s.colors))
		high := min(low+2*height/vg.Length(len(s.colors)), c.Max.Y) // it overlaps the next one: there are no gaps
		c.FillPolygon(shade, []vg.Point{{X: left, Y: low}, {X: left + scaleWidth, Y: low},
			{X: left + scaleWidth, Y: high}, {X: left, Y: high}})
	}
	at, texts := s.labels()
	for i, label := range texts {
		style := s.Style
		style.YAlign = text.YCenter
		c.FillText(style, vg.Point{X: left + scaleWidth + scaleGap, Y: c.Min.Y + height*vg.Length(at[i])}, label)
	}
}

// GlyphBoxes implements gonum's GlyphBoxer: it reserves space for the bar.
func (s scale) GlyphBoxes(*gonum.Plot) []gonum.GlyphBox {
	width, ascent := vg.Length(0), s.FontExtents().Height/2
	_, texts := s.labels()
	for _, label := range texts {
		width = max(width, s.Width(label))
	}
	right := scaleInset + scaleWidth + scaleGap + width
	return []gonum.GlyphBox{{X: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: right}}},
		{Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: ascent}}}}
}

// plane is values on a grid, which a heat map reads.
type plane struct {
	limit  float64
	values []float32
}

func (p plane) Dims() (columns, rows int) { return planeSize, planeSize }
func (p plane) X(column int) float64      { return planeAt(p.limit, column) }
func (p plane) Y(row int) float64         { return planeAt(p.limit, row) }
func (p plane) Z(column, row int) float64 { return float64(p.values[row*planeSize+column]) }
