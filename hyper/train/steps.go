package train

import (
	"maps"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Train makes the period's SGD steps on the first size data (int32 scalar, at least 1): nu <- nu - alpha grad L~ / |D|,
// or the step of another optimizer with the gradient of L~ / |D|. actions holds the inputs of all actions, [runs,
// actions, features]; it is nil for arms, and if inputs are kept with the data. For Exact, Train makes no steps and
// returns a copy of the state.
func (t Trainer) Train(state State, s rng.Stream, size, actions *Node, r Rates) State {
	if t.Integrate == Exact {
		return maps.Clone(state)
	}
	chosen := t.solver()
	d := chosen.draw(state, s.Named("sgd").Step(0), size, actions, r)
	if r.Data != nil {
		size = r.Data
	}
	out, p := maps.Clone(state), t.problem()
	moved, still := out.split()
	shocks := p.shocks(s.Named("noise"), list(out, "nu"))
	reads := slices.Concat([]**Node{&size}, d.nodes(), r.nodes(), places(still.nodes), places(shocks))
	repeat := loop.Repeat
	if t.unrolls() {
		repeat = loop.Unroll
	}
	moved.nodes = repeat(t.Steps, moved.nodes, reads, func(i loop.Index, nodes []*Node) []*Node {
		now := State{}
		moved.put(now, nodes)
		still.put(now, still.nodes)
		data := ConvertDType(size, dtypes.Float32)
		t.step(now, chosen, &d, i, data, r)
		if len(shocks) > 0 {
			p.shake(now, rowsOf(shocks, i), t.stepAt(data, r), data)
		}
		return moved.get(now)
	})
	moved.put(out, moved.nodes)
	return out
}

// rowsOf returns the i-th row of each node [runs, steps, ...].
func rowsOf(nodes []*Node, i loop.Index) (out []*Node) {
	for _, v := range nodes {
		out = append(out, i.Rows(v, 1))
	}
	return out
}

// unrolledSteps is the largest number of SGD steps that are built one after the other, for optimizers other than sgd.
const unrolledSteps = 8

// unrolls reports whether the steps are built one after the other, without a loop, on every backend. Steps of sgd give
// the same bits in a loop, in 0.6 to 1.1 times the processor's time. Four steps of adam take 1.06 times as long in a
// loop, and round differently: XLA computes the moments of unrolled steps anew from all earlier gradients. Committed
// results have at most 8 such steps.
func (t Trainer) unrolls() bool {
	return !t.LinearSteps() && t.Steps <= unrolledSteps
}

// step makes the i-th step of a period. size is |D|, a float32 scalar.
func (t Trainer) step(state State, chosen solver, d *draws, i loop.Index, size *Node, r Rates) {
	grads := chosen.gradient(state, d, i, size, r)
	scale := Reciprocal(size)
	for j := range grads {
		grads[j] = Mul(grads[j], scale)
	}
	t.update(state, clipped(grads, r.Clip), size, r)
}

// update makes a step of the optimizer.
func (t Trainer) update(state State, grads []*Node, size *Node, r Rates) {
	before := list(state, "nu")
	opt, nu := t.optimizer().Update(list(state, "optimizer"), before, grads, t.stepAt(size, r))
	if kept := list(state, "optimizer"); len(nu) != len(before) || len(opt) != len(kept) {
		panic(faults.New("", "the optimizer %T returned %d parameters and %d parts of its state, want %d and %d",
			t.optimizer(), len(nu), len(opt), len(before), len(kept)))
	}
	affine := t.problem().Affine != nil
	for j := range nu {
		faults.Node(nu[j], before[j].Shape(), "parameter %d by the optimizer %T", j, t.optimizer())
		if affine && j > 0 && r.MapStep != nil {
			nu[j] = Add(before[j], Mul(perRun(r.MapStep, nu[j]), Sub(nu[j], before[j])))
		}
		state[key("nu", j)] = nu[j]
	}
	for j := range opt {
		state[key("optimizer", j)] = opt[j]
	}
}

// stepAt returns the step size for size data, a float32 scalar: [runs].
func (t Trainer) stepAt(size *Node, r Rates) *Node {
	if t.Schedule == nil {
		return r.Step
	}
	return Mul(r.Step, t.Schedule.Factor(size))
}

// clipped scales down the gradients of the runs whose norm over all parameters exceeds the bound, [runs].
func clipped(grads []*Node, bound *Node) []*Node {
	if bound == nil {
		return grads
	}
	norm2 := ScalarZero(bound.Graph(), bound.DType())
	for _, g := range grads {
		runs := g.Shape().Dim(0)
		norm2 = Add(norm2, ReduceSum(Square(Reshape(g, runs, g.Shape().Size()/runs)), 1))
	}
	shorter := MinScalar(Div(bound, Sqrt(MaxScalar(norm2, 1e-30))), 1)
	factor := Where(GreaterThan(bound, ZerosLike(bound)), shorter, OnesLike(bound))
	out := make([]*Node, len(grads))
	for i, g := range grads {
		out[i] = Mul(g, perRun(factor, g))
	}
	return out
}
