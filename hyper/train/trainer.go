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

// Trainer is incremental perturbed SGD (section 2.1): data are added one at a time, and after each some SGD steps are
// made. Its methods build graphs over a State; it holds nothing but the configuration.
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

// Prefixes begin the names in a state of a belief's parameters that nothing changes, and of those that data change
// without training.
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
		p.Nu[i] = ConvertDType(p.Nu[i], dtypes.Float32) // Exact keeps float64
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

// Observe adds a datum to each run: its input x and response y ([runs]), the size-th of the data (int32 scalar, from
// 0). x is the arm, or the place of the input among actions, int32 [runs]; where Config.Inputs says so it is the input
// itself, [runs, Inputs]. Observe draws A_t from the stream. actions are as in Train. Exact alone reads the rates,
// which must be those of all the data before.
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
	if a != nil && r.Weight != nil && t.Weights == Unweighted { // the mean of so many responses has so much less noise
		a = Mul(a, Rsqrt(InsertAxes(r.Weight, -1, -1)))
	}
	d := datum{at: size, x: x, actions: actions, y: y, a: a, w: r.Weight}
	t.route().observe(out, d, r)
	p.keep(out, d, r)
	return out
}

// Keep is [Trainer.Observe] of a datum that the replay buffer has no room for: a belief that is hyper.Conditioned sees
// its input x, and nothing else changes.
func (t Trainer) Keep(state State, x, actions *Node, r Rates) State {
	out := maps.Clone(state)
	t.problem().keep(out, datum{x: x, actions: actions, w: r.Weight}, r)
	return out
}

// Fill is [Trainer.Observe] of all the data that a run will have at once, as many as Config.Capacity: inputs x, int32
// arms [runs, Capacity], or [runs, Capacity, Inputs] where Config.Inputs says so, and responses y [runs, Capacity]. The
// state must have no data yet, and the training must replay data that it neither weighs nor standardises.
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

// Train makes the period's SGD steps on the first size data (int32 scalar, at least 1):
// nu <- nu - alpha grad L~ / |D|, or what another optimizer makes of the gradient of L~ / |D|. actions are the inputs
// of all actions, [runs, actions, features], or nil for arms and where inputs are kept with the data. Exact has nothing
// to do: it returns the state.
func (t Trainer) Train(state State, s rng.Stream, size, actions *Node, r Rates) State {
	if t.Integrate == Exact {
		return maps.Clone(state)
	}
	way := t.route()
	d := way.draw(state, s.Named("sgd").Step(0), size, actions, r)
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
		t.step(now, way, &d, i, data, r)
		if len(shocks) > 0 {
			p.shake(now, rowsOf(shocks, i), t.stepAt(data, r), data)
		}
		return moved.get(now)
	})
	moved.put(out, moved.nodes)
	return out
}

// rowsOf are the i-th rows of nodes [runs, steps, ...].
func rowsOf(nodes []*Node, i loop.Index) (out []*Node) {
	for _, v := range nodes {
		out = append(out, i.Rows(v, 1))
	}
	return out
}

// unrolledSteps are the most SGD steps of an optimizer other than sgd that are built one after the other.
const unrolledSteps = 8

// unrolls tells that the steps are no loop on any backend. Steps of sgd give the same bits in a loop, in 0.6 to 1.1 of
// the processor's time. Four of adam take 1.06 of it, and are rounded otherwise: XLA computes the moments of unrolled
// steps anew from all gradients before. Committed results have at most 8 such steps.
func (t Trainer) unrolls() bool {
	return !IsLinear(t.Optimizer) && t.Steps <= unrolledSteps
}

// step makes the i-th step of a period, with |D| a float32 scalar.
func (t Trainer) step(state State, way route, d *draws, i loop.Index, size *Node, r Rates) {
	grads := way.gradient(state, d, i, size, r)
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

// stepAt is the step size with so many data, a float32 scalar: [runs].
func (t Trainer) stepAt(size *Node, r Rates) *Node {
	if t.Schedule == nil {
		return r.Step
	}
	return Mul(r.Step, t.Schedule.Factor(size))
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
