// Package loop repeats a part of a graph. On XLA for CPUs the rounds are one loop, so that neither the program nor the
// time to compile it grows with their number. Elsewhere they are built one after the other: the Go backend has no loop
// that serves, and on a GPU nobody has measured one.
package loop

import (
	"fmt"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
)

// Index is the round that a body is built for: a number, or in a loop a node.
type Index struct {
	number int
	node   *Node // int32 scalar, or nil
}

// At is the round of that number, from 0.
func At(number int) Index { return Index{number: number} }

// Rows returns the round's n rows of x, [runs, rounds * n, ...]: [runs, n, ...]. Of nil it is nil.
func (i Index) Rows(x *Node, n int) *Node {
	if x == nil {
		return nil
	}
	if i.node == nil {
		return Slice(x, AxisRange(), AxisRange(i.number*n, (i.number+1)*n))
	}
	sizes := x.Shape().Clone().Dimensions
	from := make([]*Node, len(sizes))
	for axis := range from {
		from[axis] = ScalarZero(x.Graph(), dtypes.Int32)
	}
	from[1], sizes[1] = MulScalar(i.node, int32(n)), n
	return DynamicSlice(x, from, sizes)
}

// Nth returns then in the last of every n rounds, and otherwise in the others. They are of one shape.
func (i Index) Nth(n int, then, otherwise func() *Node) *Node {
	switch {
	case i.node != nil:
		chosen := then()
		last := Equal(ModScalar(i.node, int32(n)), Scalar(chosen.Graph(), dtypes.Int32, n-1))
		return Where(BroadcastToShape(last, chosen.Shape()), chosen, otherwise())
	case i.number%n == n-1:
		return then()
	}
	return otherwise()
}

// Repeat makes so many rounds of a body, each on the state that the one before returned, and returns the state of the
// last. The body returns nodes of the shapes of its state. reads are the places of all other nodes that it reads, or of
// nil: while a loop is built they hold the loop's own, since its body cannot read what is made outside.
func Repeat(rounds int, state []*Node, reads []**Node, body func(i Index, state []*Node) []*Node) []*Node {
	if rounds < 2 || !rolls(state[0].Graph()) {
		return Unroll(rounds, state, reads, body)
	}
	return while(rounds, state, reads, body)
}

// Unroll is Repeat with the rounds built one after the other on every backend.
func Unroll(rounds int, state []*Node, _ []**Node, body func(i Index, state []*Node) []*Node) []*Node {
	for i := range rounds {
		state = body(At(i), state)
	}
	return state
}

// rolls tells whether rounds are made by a loop.
func rolls(g *Graph) bool {
	return strings.Contains(g.Backend().Description(), "cpu_plugin") && nests(g)
}

// while is Repeat by a loop, which carries the number of the round, the state, and what is read.
func while(rounds int, state []*Node, reads []**Node, body func(i Index, state []*Node) []*Node) []*Node {
	g := state[0].Graph()
	start := append([]*Node{Const(g, int32(0))}, state...)
	var places []**Node
	for _, place := range reads {
		if *place != nil {
			places, start = append(places, place), append(start, *place)
		}
	}
	more := closure(g, func(g *Graph) []*Node {
		return []*Node{LessThan(parameters(g, start)[0], Const(g, int32(rounds)))}
	})
	round := closure(g, func(g *Graph) []*Node {
		in := parameters(g, start)
		own, read := in[1:1+len(state)], in[1+len(state):]
		for i, place := range places {
			*place = read[i]
		}
		out := append([]*Node{AddScalar(in[0], int32(1))}, body(Index{node: in[0]}, own)...)
		return append(out, read...)
	})
	for i, place := range places {
		*place = start[1+len(state)+i]
	}
	return While(more, round, start...)[1 : 1+len(state)]
}

// parameters are those of a function of such nodes. XLA wants other names in each function of a program.
func parameters(g *Graph, like []*Node) []*Node {
	function := len(g.Nodes())
	out := make([]*Node, len(like))
	for i, x := range like {
		out[i] = Parameter(g, fmt.Sprintf("loop%d_%d", function, i), x.Shape())
	}
	return out
}
