package train

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// The replay buffer is three entries of a State with room for a fixed number of data points: the actions taken
// "replay.x" int32 [runs, capacity], the responses "replay.y" [runs, capacity], and the perturbation vectors
// "replay.a" [runs, capacity, width]. Rows not yet filled are zero; how many are filled is the period's business.

// newReplay returns an empty buffer.
func newReplay(g *Graph, runs, capacity, width int) State {
	return State{
		"replay.x": Zeros(g, shapes.Make(dtypes.Int32, runs, capacity)),
		"replay.y": Zeros(g, shapes.Make(dtypes.Float32, runs, capacity)),
		"replay.a": Zeros(g, shapes.Make(dtypes.Float32, runs, capacity, width)),
	}
}

// Insert writes row (of shape [runs, ...]) at position t, a scalar, of buffer [runs, capacity, ...].
func Insert(buffer, row, t *Node) *Node {
	row = InsertAxes(row, 1)
	g := buffer.Graph()
	if g.Backend().Capabilities().Operations[compute.OpTypeDynamicUpdateSlice] {
		start := make([]*Node, buffer.Rank())
		for i := range start {
			start[i] = Const(g, int32(0))
		}
		start[1] = t
		return DynamicUpdateSlice(buffer, row, start)
	}
	position := Iota(g, shapes.Make(dtypes.Int32, buffer.Shape().Dimensions...), 1)
	return Where(Equal(position, t), BroadcastToShape(row, buffer.Shape()), buffer)
}

// minibatch draws n data points of each run uniformly with replacement from the first size (int32 scalar), without their
// perturbation vectors, and their places at, [runs, n]. actions are the inputs of all actions, [runs, actions, features], or nil
// for arms, which are their own inputs.
func minibatch(state State, s rng.Stream, size *Node, n int, actions *Node) (data Batch, at *Node) {
	at = s.Intn(size, n)
	arm := gatherRows(InsertAxes(state["replay.x"], -1), at)
	data = Batch{X: arm, Y: Squeeze(gatherRows(InsertAxes(state["replay.y"], -1), at), 2)}
	if actions != nil {
		data.X = gatherRows(actions, Squeeze(arm, 2))
	}
	return data, at
}

// gatherColumns returns, of m [runs, rows, columns] and for each of so many steps, the entries in that step's rows and columns: at
// (int32 [runs, steps * n]) and columns (int32 [runs, steps * k]) give [runs, steps * n, k].
func gatherColumns(m, at, columns *Node, steps int) *Node {
	runs, n, k := at.Shape().Dim(0), at.Shape().Dim(1)/steps, columns.Shape().Dim(1)/steps
	g, dims := m.Graph(), []int{runs, steps, n, k}
	each := func(x *Node, before ...int) *Node { return BroadcastToDims(Reshape(x, before...), dims...) }
	run := Iota(g, shapes.Make(dtypes.Int32, dims...), 0)
	places := Stack([]*Node{run, each(at, runs, steps, n, 1), each(columns, runs, steps, 1, k)}, -1)
	return Reshape(Gather(m, places), runs, steps*n, k)
}

// gatherRows returns rows at (int32 [runs, n]) of m [runs, rows, columns]: [runs, n, columns].
func gatherRows(m, at *Node) *Node {
	runs, rows, columns := m.Shape().Dim(0), m.Shape().Dim(1), m.Shape().Dim(2)
	n := at.Shape().Dim(1)
	offset := MulScalar(Iota(m.Graph(), shapes.Make(dtypes.Int32, runs, 1), 0), int32(rows))
	flat := Gather(Reshape(m, runs*rows, columns), Reshape(Add(at, offset), runs*n, 1))
	return Reshape(flat, runs, n, columns)
}
