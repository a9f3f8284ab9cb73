package plot

import (
	"image/color"
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// key is a legend on a faint white ground that goes, when it is drawn, to the corner where it hides least. More than
// five entries stand in columns.
type key struct {
	text.Style
	entries   []entry
	obstacles []obstacle
	corners   []corner // in the order of preference
}

type entry struct {
	label  string
	thumbs []gonum.Thumbnailer
}

// obstacle is what a legend should not hide, as lines on the canvas.
type obstacle interface {
	pieces(draw.Canvas, *gonum.Plot) [][]vg.Point
}

type corner struct{ top, left bool }

var (
	topLeft     = corner{true, true}
	topRight    = corner{true, false}
	bottomLeft  = corner{false, true}
	bottomRight = corner{false, false}
)

// Lengths in points.
const (
	keyMargin  = vg.Length(5)  // between the legend's edge and its content
	keyInset   = vg.Length(5)  // between the axes and the legend's edge
	keyThumb   = vg.Length(22) // width of a thumbnail
	keyGap     = vg.Length(5)  // between thumbnail and text
	keyColumns = vg.Length(14) // between columns
	keyRow     = vg.Length(legendSize * 1.25)
)

// Plot implements gonum's Plotter.
func (k *key) Plot(c draw.Canvas, p *gonum.Plot) {
	if len(k.entries) == 0 {
		return
	}
	_, place := k.best(c, p)
	box, rows := k.box(c, place)
	ground := []vg.Point{box.Min, {X: box.Max.X, Y: box.Min.Y}, box.Max, {X: box.Min.X, Y: box.Max.Y}, box.Min}
	c.FillPolygon(color.NRGBA{255, 255, 255, 220}, ground)
	c.StrokeLines(draw.LineStyle{Color: gridColor, Width: vg.Points(thinWidth)}, ground)
	x := box.Min.X + keyMargin
	for first := 0; first < len(k.entries); first += rows {
		column := k.entries[first:min(first+rows, len(k.entries))]
		k.draw(c, vg.Point{X: x, Y: box.Max.Y - keyMargin/2}, column)
		x += k.width(column) + keyColumns
	}
}

// draw draws a column of entries below and right of a point.
func (k *key) draw(c draw.Canvas, at vg.Point, entries []entry) {
	style := k.Style
	style.YAlign = draw.YCenter
	for i, e := range entries {
		top := at.Y - keyRow*vg.Length(i)
		icon := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: at.X, Y: top - keyRow*0.88}, Max: vg.Point{X: at.X + keyThumb, Y: top - keyRow*0.12},
		}}
		for _, t := range e.thumbs {
			t.Thumbnail(&icon)
		}
		descent := style.FontExtents().Descent
		c.FillText(style, vg.Point{X: at.X + keyThumb + keyGap, Y: top - keyRow/2 + descent/2}, e.label)
	}
}

// best returns the length of lines, in points, that the legend hides where it hides least, and that corner.
func (k *key) best(c draw.Canvas, p *gonum.Plot) (hidden vg.Length, place corner) {
	var lines [][]vg.Point
	for _, o := range k.obstacles {
		lines = append(lines, o.pieces(c, p)...)
	}
	for i, option := range k.corners {
		box, _ := k.box(c, option)
		n := vg.Length(0)
		for _, line := range lines {
			n += inside(line, box)
		}
		if i == 0 || n < hidden {
			hidden, place = n, option
		}
	}
	return hidden, place
}

// box returns the legend's rectangle in a corner of the canvas, and the entries of a column.
func (k *key) box(c draw.Canvas, at corner) (box vg.Rectangle, rows int) {
	size := c.Size()
	var width vg.Length
	for columns := (len(k.entries) + 4) / 5; columns > 0; columns-- {
		rows = (len(k.entries) + columns - 1) / columns
		width = 2*keyMargin - keyColumns
		for first := 0; first < len(k.entries); first += rows {
			width += k.width(k.entries[first:min(first+rows, len(k.entries))]) + keyColumns
		}
		if width < size.X*0.9 {
			break
		}
	}
	height := keyRow*vg.Length(rows) + keyMargin
	x, y := c.Min.X+keyInset, c.Min.Y+keyInset
	if !at.left {
		x = c.Max.X - keyInset - width
	}
	if at.top {
		y = c.Max.Y - keyInset - height
	}
	return vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + width, Y: y + height}}, rows
}

// width returns that of a column.
func (k *key) width(column []entry) (widest vg.Length) {
	for _, e := range column {
		widest = max(widest, k.Style.Width(e.label))
	}
	return keyThumb + keyGap + widest
}

// inside returns about what length of a line lies in a box.
func inside(line []vg.Point, box vg.Rectangle) (length vg.Length) {
	const step = vg.Length(2)
	for i := 1; i < len(line); i++ {
		d := line[i].Sub(line[i-1])
		pieces := min(1+int(math.Hypot(float64(d.X), float64(d.Y))/float64(step)), 10_000)
		for j := range pieces {
			at := line[i-1].Add(d.Scale((vg.Length(j) + 0.5) / vg.Length(pieces)))
			if at.X >= box.Min.X && at.X <= box.Max.X && at.Y >= box.Min.Y && at.Y <= box.Max.Y {
				length += step
			}
		}
	}
	return length
}

// makeRoom extends the vertical axis upwards, at most to nearly twice its length, until the legend hides nothing in a
// figure of the default size.
func (k *key) makeRoom(p *gonum.Plot) {
	c := draw.NewCanvas(new(recorder.Canvas), saveWidth*vg.Centimeter*0.83, saveHeight*vg.Centimeter*0.74)
	low, high := p.Y.Min, p.Y.Max
	for room := 0.0; room < 0.46; room += 0.05 {
		p.Y.Max = low + (high-low)/(1-room)
		if logarithmic(p.Y) {
			p.Y.Max = low * math.Pow(high/low, 1/(1-room))
		}
		if hidden, _ := k.best(c, p); hidden == 0 {
			return
		}
	}
	p.Y.Max = high // no use: the ground must do
}
