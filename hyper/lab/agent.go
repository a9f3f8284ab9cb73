package lab

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Agent chooses actions and learns from rewards. Its methods build graphs for a batch of runs. An Agent is either a
// learner or an [Oracle].
type Agent interface {
	// Numbers returns, by name, the settings that do not shape the computation. The other methods get them as nodes.
	Numbers() map[string]float64
	Init(s rng.Stream, n hyper.Numbers) bandit.State
	// Act returns the action of each run, int32 [runs], and the values that led to the choice, [runs, ...]. A run
	// diverges when one of its values is not finite. period is an int32 scalar that counts from 0. x holds the inputs
	// of the actions, and available marks the actions that may be taken, as in [learner.Learner].Act.
	Act(state bandit.State, n hyper.Numbers, s rng.Stream, period, x, available *Node) (action, values *Node)
	// Learn returns the state after the agent has learned from a datum.
	Learn(state bandit.State, n hyper.Numbers, s rng.Stream, d Datum) bandit.State
	// Computation returns the paper's measure of arithmetic per period (section 4.1): n_sgd n_z n_data n_params.
	Computation() float64
}

// Datum is an action and its reward, for every run of a batch.
type Datum struct {
	Number *Node // int32 scalar: number of data before this one
	Action *Node // int32 [runs]
	Input  *Node // [runs, features]: input of the action, if inputs change from period to period; otherwise nil
	Inputs *Node // [runs, actions, features]: inputs of all actions, if they do not change; nil for arms
	Reward *Node // [runs]
}

// learning makes an Agent of a [learner.Learner]. Package agent uses the same learner, with one run.
type learning struct{ learner.Learner }

func (a learning) Init(s rng.Stream, n hyper.Numbers) bandit.State { return a.Learner.Init(s, n) }

func (a learning) Act(state bandit.State, n hyper.Numbers, s rng.Stream, period, x, available *Node) (action, values *Node) {
	c := a.Learner.Act(state, n, s, period, x, available)
	return c.Action, c.Values
}

func (a learning) Learn(state bandit.State, n hyper.Numbers, s rng.Stream, d Datum) bandit.State {
	x := d.Action
	if d.Input != nil {
		x = d.Input
	}
	next := a.Observe(state, n, s, d.Number, x, d.Reward, d.Inputs)
	return a.Fit(next, n, s, AddScalar(d.Number, int32(1)), nil, d.Inputs)
}

// Computation returns n_sgd n_z n_data n_params. A closed form counts each particle, or one index. Full-data statistics
// count one datum for each parameter row. The exact minimiser counts one update by one datum, and the statistics that
// it keeps of the inputs of the data. A Conditioned belief counts the numbers that it keeps in the same way.
func (a learning) Computation() float64 {
	c, indices, data := a.Learner.Train, float64(a.Learner.Train.Indices), float64(a.Learner.Train.Batch)
	switch {
	case c.Integrate == train.Sampled && c.IndexSet == train.PerDatum:
		indices = 1 // one index for each datum
	case c.Integrate == train.Sampled && c.IndexSet == train.Axes:
		indices = float64(2 * a.Belief.Index().Dim())
	case c.Integrate != train.Sampled:
		indices = 1
		if p, ok := a.Belief.Index().(index.Enumerable); ok {
			indices = float64(p.Dim())
		}
	}
	involved := float64(numInvolved(a.Belief))
	switch c.Integrate {
	case train.Exact:
		return indices*involved + float64(train.Trainer{Belief: a.Belief, Config: c}.ExactSize())
	case train.FullData:
		data = 1
	}
	kept := 0.0
	if b := hyper.CapabilitiesOf(a.Belief).Conditioned; b != nil {
		kept = float64(b.NumKept())
	}
	return float64(c.Steps)*indices*data*involved + kept
}

// numInvolved returns the number of parameters that one index involves: what a belief says, or otherwise the number of
// its trained parameters.
func numInvolved(b hyper.Belief) (n int) {
	if b, ok := b.(hyper.Counted); ok {
		return b.NumInvolved()
	}
	own, err := backend.Open(backend.Go)
	if err != nil {
		panic(err) // the backend is a part of the program
	}
	g := NewGraph(own, "the parameters of a belief")
	for _, nu := range b.Init(rng.New(Const(g, []uint64{0})), nil).Nu {
		n += nu.Shape().Size()
	}
	return n
}
