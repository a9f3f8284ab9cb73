package train

import (
	"fmt"
	"maps"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
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
	if t.Integrate == FullData {
		t.setStatistics(state, t.noStatistics(g, runs))
	} else {
		state = newReplay(g, runs, t.Capacity, t.Model.Index().Width())
	}
	for i, nu := range p.Nu {
		state[key("nu", i)], state[key("anchor", i)] = nu, nu
	}
	if p.Prior != nil {
		state["prior"] = p.Prior
	}
	for i, v := range t.optimizer().Init(p.Nu) {
		state[key("optimizer", i)] = v
	}
	return state
}

// Params returns the model's parameters in a state.
func (t Trainer) Params(state State) hyper.Params {
	return hyper.Params{Nu: list(state, "nu"), Nu0: list(state, "anchor"), Prior: state["prior"]}
}

// Observe adds a datum to each run: the action x (int32 [runs]) and the response y ([runs]), the size-th of the data
// (int32 scalar, from 0). It draws A_t from the stream. actions are as in Train.
func (t Trainer) Observe(state State, s rng.Stream, size, x, y, actions *Node) State {
	a := t.Model.Index().Perturbation(s.Named("A"), 1) // [runs, 1, width]
	out := maps.Clone(state)
	if t.Integrate == FullData {
		input := InsertAxes(x, -1, -1)
		if actions != nil {
			input = gatherRows(actions, InsertAxes(x, -1))
		}
		datum := Batch{X: input, Y: InsertAxes(y, -1), A: a}
		t.setStatistics(out, t.statistics(state).Add(Collapse(t.Model.Base.(hyper.LinearBase), datum)))
		return out
	}
	out["replay.x"] = Insert(state["replay.x"], x, size)
	out["replay.y"] = Insert(state["replay.y"], y, size)
	out["replay.a"] = Insert(state["replay.a"], Squeeze(a, 1), size)
	return out
}

// Train makes the period's SGD steps on the first size data (int32 scalar, at least 1):
// nu <- nu - alpha grad L~ / |D|, or what another optimizer makes of the gradient of L~ / |D|. actions are the inputs of all
// actions, [runs, actions, features], or nil for arms.
func (t Trainer) Train(state State, s rng.Stream, size, actions *Node, r Rates) State {
	out := maps.Clone(state)
	scale := Reciprocal(ConvertDType(size, dtypes.Float32))
	for i := range t.Steps {
		grads := t.gradient(out, s.Named("sgd").Step(i), size, actions, r)
		for j := range grads {
			grads[j] = Mul(grads[j], scale)
		}
		opt, nu := t.optimizer().Update(list(out, "optimizer"), list(out, "nu"), grads, r.Step)
		for j := range nu {
			out[key("nu", j)] = nu[j]
		}
		for j := range opt {
			out[key("optimizer", j)] = opt[j]
		}
	}
	return out
}

// gradient is grad L~ of one step.
func (t Trainer) gradient(state State, s rng.Stream, size, actions *Node, r Rates) []*Node {
	p := t.Params(state)
	weight := OnesLike(r.Step)
	if t.Integrate == FullData {
		return t.statistics(state).ExactGradient(t.Model, p, weight, r)
	}
	count := ConvertDType(size, dtypes.Float32)
	data := minibatch(state, s.Named("batch"), size, t.Batch, actions)
	weight = Mul(weight, MulScalar(count, 1/float64(t.Batch)))
	if t.Integrate == Analytic {
		if t.Model.LinearInTheta() {
			return Collapse(t.Model.Base.(hyper.LinearBase), data).ExactGradient(t.Model, p, weight, r)
		}
		all := t.Model.Index().(index.Enumerable).All(size.Graph(), s.Runs())
		return SampledGradient(t.Model, p, data, all, count, r)
	}
	z := t.Model.Index().Sample(s.Named("z"), t.Indices)
	if t.Model.LinearInTheta() {
		return Collapse(t.Model.Base.(hyper.LinearBase), data).GradientAt(t.Model, p, z, weight, r)
	}
	return SampledGradient(t.Model, p, data, z, count, r)
}

func (t Trainer) optimizer() Optimizer {
	if t.Optimizer == "" {
		return SGD{}
	}
	return Optimizers[t.Optimizer]
}

// noStatistics are those of no data.
func (t Trainer) noStatistics(g *Graph, runs int) Statistics {
	b := t.Model.Base.(hyper.LinearBase)
	n := hyper.NumTheta(b)
	return Statistics{
		Gram: b.NoData(g, runs),
		Y:    Zeros(g, shapes.Make(dtypes.Float32, runs, n)),
		A:    Zeros(g, shapes.Make(dtypes.Float32, runs, n, t.Model.Index().Width())),
	}
}

func (t Trainer) statistics(state State) Statistics {
	return Statistics{Gram: state["data.gram"], Y: state["data.y"], A: state["data.a"]}
}

func (t Trainer) setStatistics(state State, s Statistics) {
	state["data.gram"], state["data.y"], state["data.a"] = s.Gram, s.Y, s.A
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
