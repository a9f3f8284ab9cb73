package faults

import (
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
)

// Node panics with a [Fault] unless x has the shape that a caller of somebody else's code wants. The format and its
// arguments name x.
func Node(x *graph.Node, want shapes.Shape, format string, args ...any) {
	if x == nil {
		panic(New("", format+" is missing, want %s", append(args, want)...))
	}
	if !x.Shape().Equal(want) {
		panic(New("", format+" has the shape %s, want %s", append(args, x.Shape(), want)...))
	}
}
