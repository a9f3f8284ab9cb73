package plot

import (
	"slices"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// beside is a legend without a box: labels right of the axes, each at the end of its line, and no nearer to each other
// than their height.
type beside struct {
	text.Style
	entries []entry
}

// aside is a legend right of the axes, for what has no end to stand at.
type aside struct{ *key }

// Plot implements gonum's Plotter.
func (a aside) Plot(c draw.Canvas, _ *gonum.Plot) {
	legend := a.columns(1)[0]
	at := vg.Point{X: c.Max.X + keyInset, Y: c.Min.Y}
	size := vg.Point{X: legend.Rectangle(c).Size().X, Y: c.Max.Y - c.Min.Y}
	legend.Draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: at, Max: at.Add(size)}})
}

// GlyphBoxes implements gonum's GlyphBoxer: it keeps the room for the legend free.
func (a aside) GlyphBoxes(*gonum.Plot) []gonum.GlyphBox {
	width := a.columns(1)[0].Rectangle(draw.NewCanvas(new(recorder.Canvas), 0, 0)).Size().X
	return []gonum.GlyphBox{{X: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: keyInset + width}}}}
}

// Lengths in points.
const (
	besideLead  = vg.Length(16)  // from a line's end to its label
	besideGap   = vg.Length(3)   // between that and the text
	besideWidth = vg.Length(135) // of the longest text at most
)

// besideMost is the number of labels at most: more do not fit into a panel.
const besideMost = 12

// beside returns the legend of a figure's entries right of the axes: labels at the ends of lines, or where one entry is
// no line to the end of the axis, or nearly, a legend as usual. It is nil where they do not fit.
func (k *key) beside(axis gonum.Axis) gonum.Plotter {
	if len(k.entries) == 0 || len(k.entries) > besideMost {
		return nil
	}
	end, ended := axis.Max-0.02*(axis.Max-axis.Min), true
	for _, e := range k.entries {
		if k.Width(e.label) > besideWidth {
			return nil
		}
		ended = ended && e.end != nil && e.end.X >= end
	}
	if !ended {
		return aside{k}
	}
	b := &beside{k.Style, slices.Clone(k.entries)}
	b.YAlign = text.YCenter
	return b
}

// Plot implements gonum's Plotter.
func (b *beside) Plot(c draw.Canvas, p *gonum.Plot) {
	x, y := p.Transforms(&c)
	at := func(e entry) vg.Length { return min(max(y(e.end.Y), c.Min.Y), c.Max.Y) }
	slices.SortStableFunc(b.entries, func(one, other entry) int { return int(at(one) - at(other)) })
	wanted := make([]vg.Length, len(b.entries))
	for i, e := range b.entries {
		wanted[i] = at(e)
	}
	for i, place := range apart(wanted, b.FontExtents().Height, c.Min.Y, c.Max.Y) {
		label := vg.Point{X: c.Max.X + besideLead, Y: place}
		c.StrokeLines(b.entries[i].line, []vg.Point{{X: x(b.entries[i].end.X), Y: wanted[i]}, label})
		c.FillText(b.Style, label.Add(vg.Point{X: besideGap}), b.entries[i].label)
	}
}

// GlyphBoxes implements gonum's GlyphBoxer: it keeps the room for the labels free.
func (b *beside) GlyphBoxes(*gonum.Plot) []gonum.GlyphBox {
	width := vg.Length(0)
	for _, e := range b.entries {
		width = max(width, b.Width(e.label))
	}
	return []gonum.GlyphBox{{X: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: besideLead + besideGap + width}}}}
}

// apart moves ascending places by as little as leaves a gap between neighbours, within bounds: it is the isotonic
// regression of the places less their gaps.
func apart(wanted []vg.Length, gap, low, high vg.Length) []vg.Length {
	type block struct {
		sum vg.Length
		n   int
	}
	mean := func(b block) vg.Length { return b.sum / vg.Length(b.n) }
	var blocks []block
	for i, w := range wanted {
		blocks = append(blocks, block{w - vg.Length(i)*gap, 1})
		for n := len(blocks); n > 1 && mean(blocks[n-1]) < mean(blocks[n-2]); n-- {
			blocks[n-2].sum, blocks[n-2].n = blocks[n-2].sum+blocks[n-1].sum, blocks[n-2].n+blocks[n-1].n
			blocks = blocks[:n-1]
		}
	}
	var out []vg.Length
	for _, b := range blocks {
		for range b.n {
			i := vg.Length(len(out))
			out = append(out, max(low, min(mean(b), high-vg.Length(len(wanted)-1)*gap))+i*gap)
		}
	}
	return out
}

// lastOf is the last point of a line's pieces, or nil.
func lastOf(pieces []plotter.XYs) *plotter.XY {
	if len(pieces) == 0 {
		return nil
	}
	piece := pieces[len(pieces)-1]
	return &piece[len(piece)-1]
}
