// Package span is about numbers that follow each other in parts.
package span

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Span is where the numbers of a part are: from one, and up to before another.
type Span struct{ From, To int }

// Of are those of parts that follow each other, by their sizes.
func Of(sizes []int) []Span {
	out := make([]Span, len(sizes))
	at := 0
	for i, n := range sizes {
		out[i] = Span{at, at + n}
		at += n
	}
	return out
}

// Size is how many numbers there are.
func (s Span) Size() int { return s.To - s.From }

// In is the part of the last axis of x.
func (s Span) In(x *Node) *Node {
	axes := make([]SliceAxisSpec, x.Rank())
	for i := range axes {
		axes[i] = AxisRange()
	}
	axes[len(axes)-1] = AxisRange(s.From, s.To)
	return Slice(x, axes...)
}
