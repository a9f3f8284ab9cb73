// Package loop repeats a part of a graph. On XLA the rounds are one loop, so that neither the program nor the time to
// compile it grows with the number of rounds. On the Go backend, which has no suitable loop, the rounds are built one
// after the other.
//
// A loop of [Repeat] counts from a constant to a constant, so that XLA knows its number of rounds. On a GPU this matters:
// before each round of a loop with an unknown number of rounds, the GPU stops until the host has read the condition.
package loop

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
)

// Index is the number of the round for which a body is built: a number, or a node if the body is in a loop.
type Index struct {
	number int
	node   *Node // int32 scalar, or nil
}

// At returns the Index of the round with the given number, counted from 0.
func At(number int) Index { return Index{number: number} }

// Rows returns the rows of x [runs, rounds * n, ...] that belong to the round: [runs, n, ...]. It returns nil for nil.
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

// Nth returns then() in the last of every n rounds, and otherwise() in the other rounds. Both must have the same shape.
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

// Repeat runs body for the given number of rounds. Each round gets the state that the round before returned, and Repeat
// returns the last state. body must return nodes with the shapes of its state. A loop's body cannot use nodes from
// outside the loop. Therefore reads lists the addresses of all variables with further nodes, or nil, that body uses;
// while the loop is built, these variables hold nodes of the loop.
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

// rolls reports whether Repeat uses a loop.
func rolls(g *Graph) bool { return g.Backend().Name() == "xla" && nests(g) }

// Unbounded runs body as long as more returns true, and returns the last state. XLA does not know the number of rounds.
// body must return nodes with the shapes of its state. Neither body nor more can use nodes from outside the loop.
// Unbounded works on XLA only.
func Unbounded(state []*Node, more func(state []*Node) *Node, body func(state []*Node) []*Node) []*Node {
	g := state[0].Graph()
	function := func(build func(state []*Node) []*Node) *Function {
		return closure(g, func(g *Graph) []*Node { return build(parameters(g, state)) })
	}
	condition := function(func(state []*Node) []*Node { return []*Node{more(state)} })
	return While(condition, function(body), state...)
}

// while is Repeat with a loop. The loop carries the number of the round, the state, and the nodes that body reads.
func while(rounds int, state []*Node, reads []**Node, body func(i Index, state []*Node) []*Node) []*Node {
	g := state[0].Graph()
	start := append([]*Node{Const(g, int32(0))}, state...)
	var places []**Node
	for _, place := range reads {
		if *place != nil {
			places, start = append(places, place), append(start, *place)
		}
	}
	more := func(now []*Node) *Node { return LessThan(now[0], Const(now[0].Graph(), int32(rounds))) }
	end := Unbounded(start, more, func(now []*Node) []*Node {
		own, read := now[1:1+len(state)], now[1+len(state):]
		for i, place := range places {
			*place = read[i]
		}
		next := append([]*Node{AddScalar(now[0], int32(1))}, body(Index{node: now[0]}, own)...)
		return append(next, read...)
	})
	for i, place := range places {
		*place = start[1+len(state)+i]
	}
	return end[1 : 1+len(state)]
}

// parameters returns parameters with the shapes of the given nodes for a function. XLA requires different names in each
// function of a program.
func parameters(g *Graph, like []*Node) []*Node {
	function := len(g.Nodes())
	out := make([]*Node, len(like))
	for i, x := range like {
		out[i] = Parameter(g, fmt.Sprintf("loop%d_%d", function, i), x.Shape())
	}
	return out
}
