package train

import (
	"fmt"
	"maps"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Trainer is incremental perturbed SGD (section 2.1): data are added one at a time, and after each some SGD steps are
// made. Its methods build graphs over a State; it holds nothing but the configuration.
type Trainer struct {
	Model hyper.Model
	Config
}

// Init returns the state before any data. priorScale multiplies the prior's D, [runs], or is nil.
func (t Trainer) Init(s rng.Stream, priorScale *Node) State {
	p := t.Model.Init(s, priorScale)
	g, runs := s.Graph(), s.Runs()
	state := State{}
	switch t.Integrate {
	case FullData:
		t.setStatistics(state, t.noStatistics(g, runs))
	case Exact:
		state = t.nothingSeen(g, runs)
	default:
		state = newReplay(g, runs, t.Capacity, t.Model.Index().Width())
	}
	for i, nu := range p.Nu {
		state[key("nu", i)], state[key("anchor", i)] = nu, nu
		if t.Integrate == Exact {
			state[key("nu", i)] = double(nu)
		}
	}
	switch {
	case p.Prior != nil && t.particles() && len(t.Model.Prior.Layout.Sizes) == 1:
		state["prior.theta"] = Transpose(p.Prior, 1, 2)
	case p.Prior != nil:
		state["prior"] = p.Prior
	}
	if t.Integrate != Exact {
		for i, v := range t.optimizer().Init(p.Nu) {
			state[key("optimizer", i)] = v
		}
	}
	return state
}

// Params returns the model's parameters in a state.
func (t Trainer) Params(state State) hyper.Params {
	nu := list(state, "nu")
	for i := range nu {
		nu[i] = ConvertDType(nu[i], dtypes.Float32) // Exact keeps float64
	}
	return hyper.Params{Nu: nu, Nu0: list(state, "anchor"), Prior: state["prior"], PriorTheta: state["prior.theta"]}
}

// Observe adds a datum to each run: the action x (int32 [runs]) and the response y ([runs]), the size-th of the data
// (int32 scalar, from 0). It draws A_t from the stream. actions are as in Train. Exact alone reads the rates, which
// must be those of all the data before.
func (t Trainer) Observe(state State, s rng.Stream, size, x, y, actions *Node, r Rates) State {
	a := t.Model.Index().Perturbation(s.Named("A"), 1) // [runs, 1, width]
	out := maps.Clone(state)
	input := InsertAxes(x, -1, -1)
	if actions != nil && !t.Replays() {
		input = gatherRows(actions, InsertAxes(x, -1))
	}
	switch t.Integrate {
	case Exact:
		t.fold(out, input, y, a, r)
		return out
	case FullData:
		collapse := Collapse
		if t.particles() {
			collapse = collapseOne
		}
		datum := collapse(t.Model.Base.(hyper.LinearBase), Batch{X: input, Y: InsertAxes(y, -1), A: a})
		t.setStatistics(out, t.statistics(state).Add(datum))
		return out
	}
	out["replay.x"] = Insert(state["replay.x"], x, size)
	out["replay.y"] = Insert(state["replay.y"], y, size)
	out["replay.a"] = Insert(state["replay.a"], Squeeze(a, 1), size)
	return out
}

// Train makes the period's SGD steps on the first size data (int32 scalar, at least 1):
// nu <- nu - alpha grad L~ / |D|, or what another optimizer makes of the gradient of L~ / |D|. actions are the inputs of all
// actions, [runs, actions, features], or nil for arms. Exact has nothing to do: it returns the state.
func (t Trainer) Train(state State, s rng.Stream, size, actions *Node, r Rates) State {
	if t.Integrate == Exact {
		return maps.Clone(state)
	}
	steps := t.draw(state, s.Named("sgd").Step(0), size, actions, r)
	if r.Data != nil {
		size = r.Data
	}
	out := maps.Clone(state)
	moved, still := out.split()
	reads := slices.Concat([]**Node{&size}, steps.nodes(), r.nodes(), places(still.nodes))
	repeat := loop.Repeat
	if t.unrolls() {
		repeat = loop.Unroll
	}
	moved.nodes = repeat(t.Steps, moved.nodes, reads, func(i loop.Index, nodes []*Node) []*Node {
		now := State{}
		moved.put(now, nodes)
		still.put(now, still.nodes)
		t.step(now, steps, i, size, r)
		return moved.get(now)
	})
	moved.put(out, moved.nodes)
	return out
}

// unrolledSteps are the most SGD steps of an optimizer other than sgd that are built one after the other.
const unrolledSteps = 8

// unrolls tells that the steps are no loop on any backend. Steps of sgd give the same bits in a loop, in 0.6 to 1.1 of
// the processor's time. Four of adam take 1.06 of it, and are rounded otherwise: XLA computes the moments of unrolled
// steps anew from all gradients before. Committed results have at most 8 such steps.
func (t Trainer) unrolls() bool {
	return t.Optimizer != "" && t.Optimizer != "sgd" && t.Steps <= unrolledSteps
}

// step makes the i-th step of a period.
func (t Trainer) step(state State, steps draws, i loop.Index, size *Node, r Rates) {
	grads := t.gradient(state, steps, i, size, r)
	scale := Reciprocal(ConvertDType(size, dtypes.Float32))
	for j := range grads {
		grads[j] = Mul(grads[j], scale)
	}
	before, grads := list(state, "nu"), clipped(grads, r.Clip)
	t.update(state, grads, r)
	if t.LastLayer == ImplicitStep {
		after, x := list(state, "nu"), steps.data.step(i, t.Batch).X
		for j, nu := range t.implicit(before, after, grads, x, steps.indices(i), size, r) {
			state[key("nu", j)] = nu
		}
	}
}

// update makes a step of the optimizer.
func (t Trainer) update(state State, grads []*Node, r Rates) {
	before := list(state, "nu")
	opt, nu := t.optimizer().Update(list(state, "optimizer"), before, grads, r.Step)
	for j := range nu {
		if _, ok := t.Model.Hyper.(hyper.Linear); ok && j > 0 && r.MapStep != nil {
			nu[j] = Add(before[j], Mul(perRun(r.MapStep, nu[j]), Sub(nu[j], before[j])))
		}
		state[key("nu", j)] = nu[j]
	}
	for j := range opt {
		state[key("optimizer", j)] = opt[j]
	}
}

// gradient is grad L~ of the i-th step.
func (t Trainer) gradient(state State, steps draws, i loop.Index, size *Node, r Rates) []*Node {
	p := t.Params(state)
	weight := OnesLike(r.Step)
	if t.Integrate == FullData {
		return t.statistics(state).ExactGradient(t.Model, p, weight, r)
	}
	count := ConvertDType(size, dtypes.Float32)
	weight = Mul(weight, MulScalar(count, 1/float64(t.Batch)))
	data, z := steps.data.step(i, t.Batch), steps.indices(i)
	_, known := t.Model.Base.(hyper.DifferentiableBase)
	switch {
	case t.Regularize == KL && !known:
		return Gradient(ReduceAllSum(VariationalLoss(t.Model, p, data, z, count, r)), p.Nu...)
	case t.collapses():
		return t.collapse(state, steps, i).ExactGradient(t.Model, p, weight, r)
	case t.Model.LinearInTheta() && fewData(t.Model.Base, t.Batch):
		return gradientOfFew(t.Model, p, data, z, weight, r)
	case t.Model.LinearInTheta():
		all := Collapse(t.Model.Base.(hyper.LinearBase), data)
		all.Picked = steps.picked
		return all.GradientAt(t.Model, p, z, weight, r)
	case known:
		return networkGradient(t.Model, t.Regularize, p, data.X, Squeeze(i.Rows(steps.targets, 1), 1), z, count, r)
	}
	return SampledGradient(t.Model, p, data, z, count, r)
}

// clipped shortens gradients whose norm over all parameters of a run exceeds a bound, [runs].
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

func (t Trainer) optimizer() Optimizer {
	if t.Optimizer == "" {
		return SGD{}
	}
	return Optimizers[t.Optimizer]
}

// particles says that the hypermodel is an ensemble: what a step on all of its particles reads is laid out as nu, particle by particle, since
// transposed it would be read against the cache.
func (t Trainer) particles() bool {
	_, ensemble := t.Model.Hyper.(hyper.Ensemble)
	return ensemble
}

// noStatistics are those of no data.
func (t Trainer) noStatistics(g *Graph, runs int) Statistics {
	b := t.Model.Base.(hyper.LinearBase)
	n, width := hyper.NumTheta(b), t.Model.Index().Width()
	s := Statistics{Gram: b.NoData(g, runs), Y: Zeros(g, shapes.Make(dtypes.Float32, runs, n))}
	if t.particles() {
		s.AT = Zeros(g, shapes.Make(dtypes.Float32, runs, width, n))
	} else {
		s.A = Zeros(g, shapes.Make(dtypes.Float32, runs, n, width))
	}
	return s
}

func (t Trainer) statistics(state State) Statistics {
	return Statistics{Gram: state["data.gram"], Y: state["data.y"], A: state["data.a"], AT: state["data.at"]}
}

func (t Trainer) setStatistics(state State, s Statistics) {
	state["data.gram"], state["data.y"] = s.Gram, s.Y
	if s.AT != nil {
		state["data.at"] = s.AT
	} else {
		state["data.a"] = s.A
	}
}

func key(name string, i int) string { return fmt.Sprintf("%s.%d", name, i) }

// list returns the entries name.0, name.1, ... of a state.
func list(state State, name string) []*Node {
	var out []*Node
	for {
		v, ok := state[key(name, len(out))]
		if !ok {
			return out
		}
		out = append(out, v)
	}
}
