package train

import (
	"maps"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/support/exceptions"

	"github.com/hypermodels/hypermodels/hyper"
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
	state := t.solver().memory(s.Graph(), s.Runs())
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

// Params returns the belief's parameters in a state.
func (t Trainer) Params(state State) hyper.Params {
	if t.Standardize && t.Integrate == Exact {
		state = t.problem().solution(state)
	}
	return params(state)
}

// Observe adds a datum to each run: an input x and a response y [runs]. size is the number of data before it, an int32
// scalar. x is the arm, or the position of the input among actions, int32 [runs]; if Config.Inputs is above 0, x is the
// input itself, [runs, Inputs]. Observe draws A_t from the stream. actions are as in Train. r.Weight is the weight of
// this datum. Only Exact, and a belief that is hyper.Conditioned, read the other rates, which must have been the same
// for all earlier data.
func (t Trainer) Observe(state State, s rng.Stream, size, x, y, actions *Node, r Rates) State {
	p := t.problem()
	a := p.vectors(s, 1)
	out := maps.Clone(state)
	if t.Standardize {
		if t.discounts() {
			out.age(t.Discount)
		}
		out.count(y, r.Weight)
	}
	if a != nil && r.Weight != nil && t.Weights == Unweighted { // a mean of w responses has sqrt(w) times less noise
		a = Mul(a, Rsqrt(InsertAxes(r.Weight, -1, -1)))
	}
	d := datum{at: size, x: x, actions: actions, y: y, a: a, w: r.Weight}
	t.solver().observe(out, d, r)
	p.keep(out, d, r)
	return out
}

// ObserveInput is [Trainer.Observe] for a datum that the replay buffer has no room for. A belief that is
// hyper.Conditioned sees the input x, and Standardize counts the response y. Nothing else changes.
func (t Trainer) ObserveInput(state State, x, y, actions *Node, r Rates) State {
	out := maps.Clone(state)
	if t.Standardize {
		out.count(y, r.Weight)
	}
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
		exceptions.Panicf("train.Trainer.Fill: got %d data for a Capacity of %d; Fill needs exactly Capacity data, "+
			"a replay buffer, and neither Weighted nor Standardize", n, t.Capacity)
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
	if own, ok := t.solver().(ownGradient); ok && own.Additive != nil && own.Particles != nil {
		out[fixedName] = own.fixedOfEach(params(out), x)
	}
	return out
}
