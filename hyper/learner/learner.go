// Package learner is the one agent there is: a belief, a loss with its training, and a policy, as graph functions over
// a batch of runs. Package lab simulates learners in worlds, many runs at once; package agent holds one with one run,
// as a service does. Both do the same with the same [Learner].
package learner

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/support/exceptions"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Learner says what an agent believes, how it learns and how it explores. Belief must be given; the rest has defaults,
// which [Learner.WithDefaults] fills in. Fields with the tag run:"true" are numbers that do not shape the computation:
// the runs of a batch may differ in them, see [Learner.Numbers].
type Learner struct {
	Belief hyper.Belief
	// Train is how the belief is trained after each datum. Integrate 0 is train.Exact where the belief has an exact
	// minimiser (train.ExactFor) that is not too large (train.GainSize at most 4,096 squared). The data alone then
	// decide what is believed: StepSize, MapStep, Clip and the other fields of Train are not read. Elsewhere it is
	// train.Sampled, and zero numbers are 4 steps, a batch of 64 and 16 indices, or 1 where the belief is
	// hyper.Conditioned.
	Train train.Config
	// StepSize is the step of theta: alpha of section 2.1, and for an ensemble alpha over the particles that an SGD
	// step visits, so that it is the step of a particle each time it is visited. 0 leaves steps to the learner: where
	// the loss is not quadratic in nu and Train names no Optimizer, that is Adam with steps of 0.01, which learns data
	// sets of ten kinds with every hypermodel, of networks too, when inputs and responses are standardised. A StepSize
	// without an Optimizer is one of SGD, the paper's, for which 0 is 0.1 or less: see FreeSteps.
	StepSize float64 `run:"true"`
	// FreeSteps lets SGD make every step that it is told to, as the experiments do. Otherwise steps stay within the
	// limit of stability that train.Config.StepLimit computes for beliefs linear in theta. With arms a larger StepSize
	// is an error, and the default is at most half of the limit. With features the data have a part in it: steps are
	// then at most nine tenths of the limit for the largest input so far. With networks the choice is yours.
	FreeSteps bool
	// NoiseVariance is sigma_w^2 of the loss, in units of y^2; 0 is 1.
	NoiseVariance float64 `run:"true"`
	// PriorVariance is sigma_p^2 of the loss. 0 makes predictions before data have variance 1 over standardised inputs,
	// as hyper.Model.UnitVariance does: it is 1/Features for a linear base model whose prior is linear too, and else 1.
	PriorVariance float64 `run:"true"`
	// InitVariance is sigma_p^2 of the functions that are the belief's prior, see hyper.Belief; 0 is PriorVariance, and
	// a negative number is none: the prior's functions are then 0.
	InitVariance float64 `run:"true"`
	// Perturbation scales the data perturbations sigma_w a^T z; 0 is 1, or none where data have Weights or are
	// Unperturbed or the belief is hyper.Conditioned, and a negative number is none.
	Perturbation float64 `run:"true"`
	// MapStep is the step of an affine belief's C against that of mu; 0 is 1.
	MapStep float64 `run:"true"`
	// Clip bounds a gradient's norm; 0 is no bound.
	Clip float64
	// KL is the strength of the regularizer train.KL; 0 is 1, and a negative number is none.
	KL float64
	// Policy gives the probabilities of actions; nil is explore.Thompson{}.
	Policy explore.Policy
}

// Choice is what a learner does, and what it did it by.
type Choice struct {
	Action        *Node // int32 [runs]
	Probabilities *Node // [runs, actions], given the functions that the policy saw
	Values        *Node // of the sampled functions, [runs, functions, actions]: not all finite in a run that diverged
}

// Init returns the state before any data. The learner must have its defaults here and below, and n has the numbers of
// the runs, or nil for those of the learner itself.
func (l Learner) Init(s rng.Stream, n hyper.Numbers) train.State {
	state := l.trainer().Init(s, Sqrt(n.Of(s, "InitVariance", max(l.InitVariance, 0))))
	if l.boundsStep() {
		state[norm2] = Zeros(s.Graph(), double(s.Runs()))
	}
	return state
}

// Act decides. period counts from 0 (int32 scalar). x are the inputs of all actions, [runs, actions, features] or arms
// int32 [runs, actions, 1]; nil is all arms in order. there tells which of the actions there are, bool [runs, actions];
// nil is all.
func (l Learner) Act(state train.State, n hyper.Numbers, s rng.Stream, period, x, there *Node) Choice {
	c := Choice{Values: hyper.Sample(l.Belief, l.trainer().Params(state), s, l.Policy.Samples(), x)}
	now := explore.Moment{Stream: s.Named("policy"), Period: period, Numbers: n.Part(policyPrefix), There: there}
	c.Probabilities, c.Action = explore.Decide(l.Policy, c.Values, now)
	return c
}

// Observe adds the size-th datum (int32 scalar, from 0) of each run, with its input x and response y [runs]; x and
// actions are as in train.Trainer.Observe.
func (l Learner) Observe(state train.State, n hyper.Numbers, s rng.Stream, size, x, y, actions *Node) train.State {
	return l.ObserveWeighted(state, n, s, size, x, y, nil, actions)
}

// ObserveWeighted is Observe of a datum that counts as so many, weight [runs]; Train.Weighted must be set. nil is 1.
func (l Learner) ObserveWeighted(state train.State, n hyper.Numbers, s rng.Stream, size, x, y, weight,
	actions *Node) train.State {
	r := l.rates(n, s)
	r.Weight = weight
	next := l.trainer().Observe(state, s, size, x, y, actions, r)
	if l.boundsStep() {
		next[norm2] = l.largerNorm2(state[norm2], x, actions)
	}
	return next
}

// Revise corrects the response of a datum of each run, whose weight [runs] is nil where it is 1: see
// [train.Trainer.Revise].
func (l Learner) Revise(state train.State, n hyper.Numbers, s rng.Stream, c train.Correction,
	weight *Node) train.State {
	r := l.rates(n, s)
	r.Weight = weight
	return l.trainer().Revise(state, c, r)
}

// Keep is [Learner.ObserveWeighted] of a datum that the replay buffer has no room for: see [train.Trainer.Keep].
func (l Learner) Keep(state train.State, n hyper.Numbers, s rng.Stream, x, weight, actions *Node) train.State {
	r := l.rates(n, s)
	r.Weight = weight
	return l.trainer().Keep(state, x, actions, r)
}

// Fill is [Learner.Observe] of all the data that a run will have at once: see [train.Trainer.Fill]. Steps must be free.
func (l Learner) Fill(state train.State, n hyper.Numbers, s rng.Stream, x, y *Node) train.State {
	if l.boundsStep() {
		exceptions.Panicf("learner.Learner.Fill: the data bound the step; set FreeSteps")
	}
	return l.trainer().Fill(state, s, x, y, l.rates(n, s))
}

// Fit makes a period's SGD steps on the first size data (int32 scalar, at least 1). data is |D| where these are a
// sample of more, an int32 scalar; nil is size.
func (l Learner) Fit(state train.State, n hyper.Numbers, s rng.Stream, size, data, actions *Node) train.State {
	r := l.rates(n, s)
	r.Data = data
	r.Step = l.boundedStep(state, r)
	return l.trainer().Train(state, s, size, actions, r)
}

// Predict returns the predictions of n functions at x, [runs, functions, inputs], by the loss's link and in the units
// of the responses: mean responses.
func (l Learner) Predict(state train.State, s rng.Stream, functions int, x *Node) *Node {
	return l.trainer().Responses(state, hyper.Sample(l.Belief, l.trainer().Params(state), s, functions, x))
}

// At returns the predictions at x by the functions that indices identify, [runs, indices, inputs], as the loss sees
// them: before its link.
func (l Learner) At(state train.State, z index.Set, x *Node) *Node {
	return l.Belief.Predict(l.trainer().Params(state), z, x)
}

func (l Learner) trainer() train.Trainer { return train.Trainer{Belief: l.Belief, Config: l.Train} }

// Streams are the random numbers of learners with the given seeds, uint64 [runs].
type Streams struct{ Seeds *Node }

// Init is the stream of [Learner.Init].
func (s Streams) Init() rng.Stream { return rng.New(s.Seeds).Named("agent").Named("init") }

// Act is the stream of a decision, by how many there were before (scalar).
func (s Streams) Act(decision *Node) rng.Stream { return rng.New(s.Seeds).At(decision).Named("act") }

// Learn is the stream of [Learner.Observe] of a datum and of the [Learner.Fit] after it, by how many data, or rounds
// of training, there were before (scalar).
func (s Streams) Learn(datum *Node) rng.Stream { return rng.New(s.Seeds).At(datum).Named("learn") }
