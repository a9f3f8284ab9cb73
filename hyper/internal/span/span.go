// Package span divides an axis into consecutive parts.
package span

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Span is the range of indices of a part: From is the first index, and To is one more than the last index.
type Span struct{ From, To int }

// Of returns the spans of consecutive parts of the given sizes.
func Of(sizes []int) []Span {
	out := make([]Span, len(sizes))
	at := 0
	for i, n := range sizes {
		out[i] = Span{at, at + n}
		at += n
	}
	return out
}

// Size returns the number of indices.
func (s Span) Size() int { return s.To - s.From }

// In returns the part of the last axis of x.
func (s Span) In(x *Node) *Node {
	axes := make([]SliceAxisSpec, x.Rank())
	for i := range axes {
		axes[i] = AxisRange()
	}
	axes[len(axes)-1] = AxisRange(s.From, s.To)
	return Slice(x, axes...)
}
