package lab

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// State is what a world or an agent carries from period to period: nodes by name, with the runs axis first.
type State = map[string]*Node

// Agent chooses actions and learns. Its methods build graphs for a batch of runs. It is a learner, or a [Yardstick].
type Agent interface {
	// Numbers are those that do not shape the computation, by name. The methods get them back as nodes.
	Numbers() map[string]float64
	Init(s rng.Stream, n hyper.Numbers) State
	// Act returns the action of each run, int32 [runs], and the values that it was chosen by, [runs, ...]: a run whose
	// values are not finite has diverged. period counts from 0 (int32 scalar); x and there are as learner.Learner has
	// them.
	Act(state State, n hyper.Numbers, s rng.Stream, period, x, there *Node) (action, values *Node)
	// Learn returns the state after a datum.
	Learn(state State, n hyper.Numbers, s rng.Stream, d Datum) State
	// Computation is the paper's measure of arithmetic per period (section 4.1): n_sgd n_z n_data n_params.
	Computation() float64
}

// Datum is an action with its reward.
type Datum struct {
	Number *Node // of data before, an int32 scalar
	Action *Node // int32 [runs]
	Input  *Node // of the action, [runs, features], where inputs change from period to period; else nil
	Inputs *Node // of all actions, [runs, actions, features], where they do not change; nil for arms
	Reward *Node // [runs]
}

// learning is a learner as the lab simulates it: the same one that package agent holds with one run.
type learning struct{ learner.Learner }

func (a learning) Init(s rng.Stream, n hyper.Numbers) State { return a.Learner.Init(s, n) }

func (a learning) Act(state State, n hyper.Numbers, s rng.Stream, period, x, there *Node) (action, values *Node) {
	c := a.Learner.Act(state, n, s, period, x, there)
	return c.Action, c.Values
}

func (a learning) Learn(state State, n hyper.Numbers, s rng.Stream, d Datum) State {
	x := d.Action
	if d.Input != nil {
		x = d.Input
	}
	next := a.Observe(state, n, s, d.Number, x, d.Reward, d.Inputs)
	return a.Fit(next, n, s, AddScalar(d.Number, int32(1)), nil, d.Inputs)
}

// Computation is n_sgd n_z n_data n_params; the closed forms count each particle, or one index, and full-data
// statistics one datum for each parameter row. The exact minimiser is moved once, by one datum, with what is kept of
// the data's inputs, and so is what a Conditioned belief keeps.
func (a learning) Computation() float64 {
	c, indices, data := a.Learner.Train, float64(a.Learner.Train.Indices), float64(a.Learner.Train.Batch)
	switch {
	case c.Integrate == train.Sampled && c.IndexSet == train.PerDatum:
		indices = 1 // of each datum
	case c.Integrate == train.Sampled && c.IndexSet == train.Axes:
		indices = float64(2 * a.Belief.Index().Dim())
	case c.Integrate != train.Sampled:
		indices = 1
		if p, ok := a.Belief.Index().(index.Enumerable); ok {
			indices = float64(p.Dim())
		}
	}
	involved := 0.0
	if b, ok := a.Belief.(interface{ NumInvolved() int }); ok {
		involved = float64(b.NumInvolved())
	}
	switch c.Integrate {
	case train.Exact:
		return indices*involved + float64(train.GainSize(a.Belief))
	case train.FullData:
		data = 1
	}
	kept := 0.0
	if b := hyper.CapabilitiesOf(a.Belief).Conditioned; b != nil {
		kept = float64(b.NumKept())
	}
	return float64(c.Steps)*indices*data*involved + kept
}
