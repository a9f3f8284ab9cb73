package plot

import (
	"image/color"
	"math"
	"slices"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// key is a legend on a translucent white ground. It is drawn in the corner where it covers the least. More than five
// entries are split into columns, each a legend of gonum.
type key struct {
	text.Style
	entries   []entry
	obstacles []plotter.XYs // lines that the legend should not cover
	corners   []corner      // in order of preference
}

type entry struct {
	label  string
	thumbs []gonum.Thumbnailer
	line   draw.LineStyle // style, if the series is a line
	end    *plotter.XY    // last point of the line, or nil
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
	keyColumns = vg.Length(14) // between columns
	keyRows    = vg.Length(4)  // between rows
)

// Plot implements gonum's Plotter.
func (k *key) Plot(c draw.Canvas, p *gonum.Plot) {
	if len(k.entries) == 0 {
		return
	}
	_, place := k.best(c, p)
	box, columns := k.box(c, place)
	ground := []vg.Point{box.Min, {X: box.Max.X, Y: box.Min.Y}, box.Max, {X: box.Min.X, Y: box.Max.Y}, box.Min}
	c.FillPolygon(color.NRGBA{255, 255, 255, 220}, ground)
	c.StrokeLines(draw.LineStyle{Color: gridColor, Width: vg.Points(thinWidth)}, ground)
	at := draw.Crop(draw.Canvas{Canvas: c.Canvas, Rectangle: box}, keyMargin, 0, 0, -keyMargin)
	for _, column := range columns {
		column.Draw(at)
		at.Min.X += column.Rectangle(c).Size().X + keyColumns
	}
}

// best returns the corner in which the legend covers the least length of lines, and that length in points.
func (k *key) best(c draw.Canvas, p *gonum.Plot) (hidden vg.Length, place corner) {
	for i, option := range k.corners {
		box, _ := k.box(c, option)
		n := vg.Length(0)
		for _, o := range k.obstacles {
			n += inside(onCanvas(c, p, o), box)
		}
		if i == 0 || n < hidden {
			hidden, place = n, option
		}
	}
	return hidden, place
}

// box returns the legend's rectangle in a corner of the canvas, and its columns. A column has at most five entries; a
// narrow canvas has fewer and longer columns.
func (k *key) box(c draw.Canvas, at corner) (box vg.Rectangle, columns []gonum.Legend) {
	var size vg.Point
	for n := (len(k.entries) + 4) / 5; n > 0; n-- {
		columns = k.columns(n)
		size = vg.Point{X: 2*keyMargin - keyColumns}
		for _, column := range columns {
			extent := column.Rectangle(c).Size()
			size.X += extent.X + keyColumns
			size.Y = max(size.Y, extent.Y+2*keyMargin)
		}
		if size.X < c.Size().X*0.9 {
			break
		}
	}
	least := c.Min.Add(vg.Point{X: keyInset, Y: keyInset})
	if !at.left {
		least.X = c.Max.X - keyInset - size.X
	}
	if at.top {
		least.Y = c.Max.Y - keyInset - size.Y
	}
	return vg.Rectangle{Min: least, Max: least.Add(size)}, columns
}

// columns splits the entries into n columns.
func (k *key) columns(n int) (out []gonum.Legend) {
	if len(k.entries) == 0 {
		return nil
	}
	for some := range slices.Chunk(k.entries, (len(k.entries)+n-1)/n) {
		column := gonum.Legend{TextStyle: k.Style, Padding: keyRows, Top: true, Left: true, ThumbnailWidth: keyThumb,
			YPosition: draw.PosBottom}
		for _, e := range some {
			column.Add(e.label, e.thumbs...)
		}
		out = append(out, column)
	}
	return out
}

// inside returns the approximate length of the part of a line that is inside a box.
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

// makeRoom extends the vertical axis upwards, at most to nearly twice its length, until the legend covers nothing in a
// figure of a width and a height in centimetres.
func (k *key) makeRoom(p *gonum.Plot, log bool, width, height vg.Length) {
	c := draw.NewCanvas(new(recorder.Canvas), width*vg.Centimeter*0.83, height*vg.Centimeter*0.74)
	low, high := p.Y.Min, p.Y.Max
	for room := 0.0; room < 0.46; room += 0.05 {
		p.Y.Max = low + (high-low)/(1-room)
		if log {
			p.Y.Max = low * math.Pow(high/low, 1/(1-room))
		}
		if hidden, _ := k.best(c, p); hidden == 0 {
			return
		}
	}
	p.Y.Max = high // more room does not help: the legend's ground must suffice
}
