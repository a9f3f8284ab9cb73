package plot

import (
	"cmp"
	"slices"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// endLabels is a legend without a frame. Its labels are right of the axes, at the ends of their lines, and moved apart
// where they would overlap. A thin leader connects a line's end to a sample of the line and the label.
type endLabels struct {
	text.Style
	entries []entry
}

// rightLegend is a legend right of the axes, for entries that have no end of a line.
type rightLegend struct{ *key }

// Plot implements gonum's Plotter.
func (a rightLegend) Plot(c draw.Canvas, _ *gonum.Plot) {
	legend := a.columns(1)[0]
	at := vg.Point{X: c.Max.X + keyInset, Y: c.Min.Y}
	size := vg.Point{X: legend.Rectangle(c).Size().X, Y: c.Max.Y - c.Min.Y}
	legend.Draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: at, Max: at.Add(size)}})
}

// GlyphBoxes implements gonum's GlyphBoxer: it reserves space for the legend.
func (a rightLegend) GlyphBoxes(*gonum.Plot) []gonum.GlyphBox {
	width := a.columns(1)[0].Rectangle(draw.NewCanvas(new(recorder.Canvas), 0, 0)).Size().X
	return []gonum.GlyphBox{{X: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: keyInset + width}}}}
}

// Lengths in points.
const (
	besideLead   = vg.Length(9)   // from a line's end to the sample
	besideSample = vg.Length(12)  // length of the sample
	besideGap    = vg.Length(3)   // between the sample and the text
	besideWidth  = vg.Length(135) // maximum width of a text
)

// besideMost is the maximum number of labels that fit into a panel.
const besideMost = 12

// beside returns a legend right of the axes. If all entries are lines that end near the end of the axis, labels are at
// the ends of the lines, else the result is an ordinary legend. It returns nil if the labels do not fit.
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
		return rightLegend{k}
	}
	b := &endLabels{k.Style, slices.Clone(k.entries)}
	b.YAlign = text.YCenter
	return b
}

// Plot implements gonum's Plotter.
func (b *endLabels) Plot(c draw.Canvas, p *gonum.Plot) {
	x, y := p.Transforms(&c)
	at := func(e entry) vg.Length { return min(max(y(e.end.Y), c.Min.Y), c.Max.Y) }
	slices.SortStableFunc(b.entries, func(one, other entry) int { return cmp.Compare(at(one), at(other)) })
	wanted := make([]vg.Length, len(b.entries))
	for i, e := range b.entries {
		wanted[i] = at(e)
	}
	for i, place := range apart(wanted, b.FontExtents().Height, c.Min.Y, c.Max.Y) {
		e := b.entries[i]
		sample := vg.Point{X: c.Max.X + besideLead, Y: place}
		label := sample.Add(vg.Point{X: besideSample})
		c.StrokeLines(draw.LineStyle{Color: leaderColor, Width: vg.Points(thinWidth)},
			[]vg.Point{{X: x(e.end.X), Y: wanted[i]}, sample})
		c.StrokeLines(e.line, []vg.Point{sample, label})
		c.FillText(b.Style, label.Add(vg.Point{X: besideGap}), e.label)
	}
}

// GlyphBoxes implements gonum's GlyphBoxer: it reserves space for the labels.
func (b *endLabels) GlyphBoxes(*gonum.Plot) []gonum.GlyphBox {
	width := vg.Length(0)
	for _, e := range b.entries {
		width = max(width, b.Width(e.label))
	}
	return []gonum.GlyphBox{{X: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: besideLead + besideSample + besideGap + width}}}}
}

// apart moves ascending positions as little as possible, so that neighbours have a gap and all are within bounds. It is
// the isotonic regression of the positions minus their gaps.
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

// lastOf returns the last point of a line's pieces, or nil.
func lastOf(pieces []plotter.XYs) *plotter.XY {
	if len(pieces) == 0 {
		return nil
	}
	piece := pieces[len(pieces)-1]
	return &piece[len(piece)-1]
}
