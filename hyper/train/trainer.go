package train

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/support/exceptions"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Trainer trains by incremental perturbed SGD (section 2.1): data are added one at a time, and each datum is followed
// by SGD steps. The methods of a Trainer build graphs over a State. A Trainer holds only the belief and the
// configuration.
type Trainer struct {
	Belief hyper.Belief
	Config
}

// Init returns the state before any data. scale is sigma_p of the prior, [runs], or nil: see [hyper.Belief].
func (t Trainer) Init(s rng.Stream, scale *Node) State {
	p := t.Belief.Init(s, scale)
	state := t.route().memory(s.Graph(), s.Runs())
	if t.Standardize {
		maps.Copy(state, t.problem().noResponses(s.Graph(), s.Runs()))
	}
	for i, nu := range p.Nu {
		state[key("nu", i)], state[key("anchor", i)] = nu, nu
		if t.Integrate == Exact {
			state[key("nu", i)] = double(nu)
		}
	}
	for name, v := range p.Fixed {
		state[fixedPrefix+name] = v
	}
	for name, v := range p.Kept {
		state[keptPrefix+name] = v
	}
	if t.Integrate != Exact {
		for i, v := range t.optimizer().Init(p.Nu) {
			state[key("optimizer", i)] = v
		}
	}
	return state
}

// fixedPrefix begins the names of a belief's parameters that nothing changes. keptPrefix begins the names of values
// that data change without training.
const (
	fixedPrefix = "fixed."
	keptPrefix  = "kept."
)

// Params returns the belief's parameters in a state.
func (t Trainer) Params(state State) hyper.Params {
	if t.Standardize && t.Integrate == Exact {
		state = t.problem().solution(state)
	}
	return params(state)
}

func params(state State) hyper.Params {
	p := hyper.Params{Nu: list(state, "nu"), Nu0: list(state, "anchor"), Fixed: map[string]*Node{},
		Kept: map[string]*Node{}}
	for i := range p.Nu {
		p.Nu[i] = ConvertDType(p.Nu[i], dtypes.Float32) // Exact keeps nu in float64
	}
	for name, v := range state {
		if rest, ok := strings.CutPrefix(name, fixedPrefix); ok {
			p.Fixed[rest] = v
		}
		if rest, ok := strings.CutPrefix(name, keptPrefix); ok {
			p.Kept[rest] = v
		}
	}
	return p
}

// Observe adds a datum to each run: an input x and a response y [runs]. size is the number of data before it, an int32
// scalar. x is the arm, or the position of the input among actions, int32 [runs]; if Config.Inputs is above 0, x is the
// input itself, [runs, Inputs]. Observe draws A_t from the stream. actions are as in Train. Only Exact reads the rates,
// which must have been the same for all earlier data.
func (t Trainer) Observe(state State, s rng.Stream, size, x, y, actions *Node, r Rates) State {
	p := t.problem()
	a := p.vectors(s, 1)
	out := maps.Clone(state)
	if t.Standardize {
		if t.discounts() {
			out.age(t.Discount)
		}
		out.count(y)
	}
	if a != nil && r.Weight != nil && t.Weights == Unweighted { // a mean of w responses has sqrt(w) times less noise
		a = Mul(a, Rsqrt(InsertAxes(r.Weight, -1, -1)))
	}
	d := datum{at: size, x: x, actions: actions, y: y, a: a, w: r.Weight}
	t.route().observe(out, d, r)
	p.keep(out, d, r)
	return out
}

// Keep is [Trainer.Observe] for a datum that the replay buffer has no room for. A belief that is hyper.Conditioned sees
// the input x, and nothing else changes.
func (t Trainer) Keep(state State, x, actions *Node, r Rates) State {
	out := maps.Clone(state)
	t.problem().keep(out, datum{x: x, actions: actions, w: r.Weight}, r)
	return out
}

// Fill is [Trainer.Observe] for all data of a run at once, exactly Config.Capacity of them. The inputs x are int32 arms
// [runs, Capacity], or [runs, Capacity, Inputs] if Config.Inputs is above 0. The responses y are [runs, Capacity]. The
// state must have no data yet. The training must use a replay buffer, without Weighted or Standardize; otherwise Fill
// panics.
func (t Trainer) Fill(state State, s rng.Stream, x, y *Node, r Rates) State {
	n := y.Shape().Dim(1)
	if !t.Replays() || t.Weighted || t.Standardize || n != t.Capacity {
		exceptions.Panicf("train.Trainer.Fill: of %d data; it needs a replay buffer of that Capacity, not %d, of data "+
			"that are neither Weighted nor Standardized", n, t.Capacity)
	}
	out := maps.Clone(state)
	p := t.problem()
	out["replay.y"] = y
	if a := p.vectors(s, n); a != nil {
		out["replay.a"] = a
	}
	p.keepAll(out, x, r)
	if t.Inputs == 0 {
		out["replay.x"] = x
		return out
	}
	out["replay.inputs"] = x
	if own, ok := t.route().(ownGradient); ok && own.Additive != nil && own.Particles != nil {
		out[fixedName] = own.fixedOfEach(params(out), x)
	}
	return out
}

// Train makes the period's SGD steps on the first size data (int32 scalar, at least 1): nu <- nu - alpha grad L~ / |D|,
// or the step of another optimizer with the gradient of L~ / |D|. actions holds the inputs of all actions, [runs,
// actions, features]; it is nil for arms, and if inputs are kept with the data. For Exact, Train makes no steps and
// returns a copy of the state.
func (t Trainer) Train(state State, s rng.Stream, size, actions *Node, r Rates) State {
	if t.Integrate == Exact {
		return maps.Clone(state)
	}
	chosen := t.route()
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
	return !IsLinear(t.Optimizer) && t.Steps <= unrolledSteps
}

// step makes the i-th step of a period. size is |D|, a float32 scalar.
func (t Trainer) step(state State, chosen route, d *draws, i loop.Index, size *Node, r Rates) {
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
	affine := t.problem().Affine != nil
	for j := range nu {
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

func (c Config) optimizer() Optimizer {
	if c.Optimizer == nil {
		return SGD{}
	}
	return c.Optimizer
}

func (c Config) loss() Loss {
	if c.Loss == nil {
		return Gaussian{}
	}
	return c.Loss
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
