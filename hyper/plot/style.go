package plot

import (
	"image/color"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Palette holds the colours of series, in order. They are the colours of Okabe and Ito (2008), which colour-blind
// readers can distinguish. Yellow is left out because it is too faint on white.
var Palette = []color.NRGBA{
	{0x00, 0x72, 0xB2, 0xFF}, // blue
	{0xD5, 0x5E, 0x00, 0xFF}, // vermillion
	{0x00, 0x9E, 0x73, 0xFF}, // bluish green
	{0xCC, 0x79, 0xA7, 0xFF}, // reddish purple
	{0xE6, 0x9F, 0x00, 0xFF}, // orange
	{0x56, 0xB4, 0xE9, 0xFF}, // sky blue
	{0x00, 0x00, 0x00, 0xFF}, // black
}

var (
	ink         = color.NRGBA{0x22, 0x22, 0x22, 0xFF}
	gridColor   = color.NRGBA{0xE2, 0xE2, 0xE2, 0xFF}
	leaderColor = color.NRGBA{0x99, 0x99, 0x99, 0xFF}
	// Gray is for reference lines such as targets and truths.
	Gray = color.NRGBA{0x66, 0x66, 0x66, 0xFF}
)

// dashes distinguish series when all colours of the palette are used.
var dashes = [][]vg.Length{nil, {vg.Points(6), vg.Points(3)}, {vg.Points(2), vg.Points(2)},
	{vg.Points(8), vg.Points(2), vg.Points(2), vg.Points(2)}}

// Sizes in points. Texts are still about 6 points high in a figure of the default size that is reduced to half.
const (
	titleSize  = 13
	labelSize  = 13
	tickSize   = 11.5
	legendSize = 11.5
	lineWidth  = 1.7
	thinWidth  = 0.6
)

func sans(points float64) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(points)}
}

// newPlot returns a plot in the project's style with a grid.
func newPlot(axes Axes) *gonum.Plot {
	p := gridless(axes)
	line := draw.LineStyle{Color: gridColor, Width: vg.Points(thinWidth)}
	p.Add(&plotter.Grid{Vertical: line, Horizontal: line})
	return p
}

// gridless returns an empty plot in the project's style.
func gridless(axes Axes) *gonum.Plot {
	p := gonum.New()
	p.Title.Text = axes.Title
	p.Title.Padding = vg.Points(2)
	styleText(&p.Title.TextStyle, titleSize)
	styleText(&p.Legend.TextStyle, legendSize)
	styleAxis(&p.X, axes.X, axes.LogX)
	styleAxis(&p.Y, axes.Y, axes.LogY)
	return p
}

func styleText(s *text.Style, points float64) {
	s.Font, s.Color = sans(points), ink
}

func styleAxis(a *gonum.Axis, label string, log bool) {
	a.Label.Text = label
	a.Label.Padding = vg.Points(5)
	styleText(&a.Label.TextStyle, labelSize)
	styleText(&a.Tick.Label, tickSize)
	a.Color, a.Width = ink, vg.Points(0.8)
	a.Tick.Color, a.Tick.Width, a.Tick.Length = ink, vg.Points(0.8), vg.Points(5)
	a.Padding = 0
	a.Tick.Marker = linearTicks{}
	if log {
		a.Tick.Marker, a.Scale = logTicks{}, gonum.LogScale{}
		a.Label.TextStyle.Handler = narrow{a.Label.TextStyle.Handler}
	}
}

// narrow handles texts as if they had no width, except a space. gonum reserves the width of an axis label around the
// mean of the axis's bounds. On a logarithmic axis that mean is near the end, and the plot would shrink, although gonum
// draws the label in the middle.
type narrow struct{ text.Handler }

func (n narrow) Box(label string, f font.Font) (width, height, depth vg.Length) {
	width, height, depth = n.Handler.Box(label, f)
	if label != " " { // the width of a space is the gap between tick labels and ticks
		width = 0
	}
	return width, height, depth
}
