package train

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// The replay buffer is a group of entries of a State, with room for a fixed number of data points. It has the actions
// taken, "replay.x" int32 [runs, capacity]. If inputs change, it has the inputs instead, "replay.inputs" [runs,
// capacity, features]. It has the responses, "replay.y" [runs, capacity]. Without Config.Unperturbed it has the
// perturbation vectors, "replay.a" [runs, capacity, width]. With Config.Weighted it has weights, "replay.w" [runs,
// capacity]. Rows that are not filled yet are zero; the caller knows the number of rows that are filled.

// newReplay returns an empty buffer. features is the number of features of an input, or 0 if the buffer keeps actions.
// width is the length of a perturbation vector, or 0 if the buffer keeps none.
func newReplay(g *Graph, runs, capacity, features, width int) State {
	state := State{"replay.y": Zeros(g, shapes.Make(dtypes.Float32, runs, capacity))}
	if width > 0 {
		state["replay.a"] = Zeros(g, shapes.Make(dtypes.Float32, runs, capacity, width))
	}
	if features > 0 {
		state["replay.inputs"] = Zeros(g, shapes.Make(dtypes.Float32, runs, capacity, features))
	} else {
		state["replay.x"] = Zeros(g, shapes.Make(dtypes.Int32, runs, capacity))
	}
	return state
}

// datum holds one datum of each run.
type datum struct {
	at      *Node // its position among the data, an int32 scalar
	x       *Node // the action, int32 [runs], or the input itself, [runs, features]
	actions *Node // inputs of all actions, [runs, actions, features]; nil for arms, and if x is the input
	y       *Node // [runs]
	a       *Node // [runs, 1, width]; nil for data that are not perturbed
	w       *Node // its weight, [runs]; nil is 1
}

// weighted returns rho, [runs, 1] or [runs, n], times the weight of the datum.
func (d datum) weighted(rho *Node) *Node {
	if d.w == nil {
		return rho
	}
	return Mul(rho, InsertAxes(double(d.w), -1))
}

// input returns the input of the datum as a belief sees it, [runs, 1, features].
func (d datum) input() *Node {
	switch {
	case d.x.Rank() == 2:
		return InsertAxes(d.x, 1)
	case d.actions != nil:
		return row.Take(d.actions, InsertAxes(d.x, -1))
	}
	return InsertAxes(d.x, -1, -1)
}

// insert adds the datum to the buffer.
func (d datum) insert(state State) {
	x := "replay.x"
	if d.x.Rank() == 2 {
		x = "replay.inputs"
	}
	state[x] = row.Put(state[x], d.x, d.at)
	state["replay.y"] = row.Put(state["replay.y"], d.y, d.at)
	if d.a != nil {
		state["replay.a"] = row.Put(state["replay.a"], Squeeze(d.a, 1), d.at)
	}
	if w := state["replay.w"]; w != nil {
		if d.w == nil {
			d.w = OnesLike(d.y)
		}
		state["replay.w"] = row.Put(w, d.w, d.at)
	}
}

// minibatch draws n data points for each run, uniformly with replacement from the first size data (int32 scalar). It
// returns the data without their perturbation vectors, and their positions at, [runs, n]. actions holds the inputs of
// all actions, [runs, actions, features], or is nil for arms, which are their own inputs.
func minibatch(state State, s rng.Stream, size *Node, n int, actions *Node) (data Batch, at *Node) {
	at = s.Intn(size, n)
	y := Squeeze(row.Take(InsertAxes(state["replay.y"], -1), at), 2)
	data = Batch{Y: y}
	if w := state["replay.w"]; w != nil {
		data.W = Squeeze(row.Take(InsertAxes(w, -1), at), 2)
	}
	if kept := state["replay.inputs"]; kept != nil {
		data.X = row.Take(kept, at)
		return data, at
	}
	arm := row.Take(InsertAxes(state["replay.x"], -1), at)
	data.X = arm
	if actions != nil {
		data.X = row.Take(actions, Squeeze(arm, 2))
	}
	return data, at
}

// gatherColumns returns entries of m [runs, rows, columns]: for each step, the entries in the step's rows and columns.
// The rows at are int32 [runs, steps * n], columns is int32 [runs, steps * k], and the result is [runs, steps * n, k].
func gatherColumns(m, at, columns *Node, steps int) *Node {
	runs, n, k := at.Shape().Dim(0), at.Shape().Dim(1)/steps, columns.Shape().Dim(1)/steps
	g, dims := m.Graph(), []int{runs, steps, n, k}
	each := func(x *Node, before ...int) *Node { return BroadcastToDims(Reshape(x, before...), dims...) }
	run := Iota(g, shapes.Make(dtypes.Int32, dims...), 0)
	places := Stack([]*Node{run, each(at, runs, steps, n, 1), each(columns, runs, steps, 1, k)}, -1)
	return Reshape(Gather(m, places), runs, steps*n, k)
}
