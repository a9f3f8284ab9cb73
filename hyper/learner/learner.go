// Package learner holds the agent of this project: a belief, a loss with its training, and a policy, as graph functions
// over a batch of runs. Package lab simulates a [Learner] in worlds, with many runs at once. Package agent holds the
// same Learner with one run, for use in a service.
package learner

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/support/exceptions"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Learner describes what an agent believes, how it learns and how it explores. Belief is required. The other fields
// have defaults, which [Learner.WithDefaults] sets. Fields with the tag run:"true" are numbers that do not shape the
// computation: they may differ between the runs of a batch, see [Learner.Numbers].
type Learner struct {
	Belief hyper.Belief
	// Train describes how the belief is trained after each datum. If Integrate is 0, it becomes train.Exact if the
	// belief has an exact minimiser (see train.Exact) that is not too large (ExactSize at most 4,096 squared). The
	// belief then depends only on the data: StepSize, MapStep, Clip and the other fields of Train are not used. For
	// other beliefs Integrate becomes train.Sampled, and the defaults are 4 steps, a batch of 64 and 16 indices, or 1
	// index if the belief is hyper.Conditioned.
	Train train.Config
	// StepSize is the step size of theta: alpha in section 2.1. For an ensemble trained by SGD or SGLD it is alpha
	// divided by the number of particles that a step visits, and is therefore the step size of a particle each time it is
	// visited. With other optimizers it is alpha itself. 0 means a default: at most 0.1 for SGD and SGLD (see FreeSteps),
	// and 0.01 for other optimizers. If Train has no Optimizer either, the learner takes SGD, the paper's optimizer, for
	// a loss that is quadratic in nu, and Adam for other losses. With standardised inputs and responses, this Adam learns
	// data sets of ten kinds with every hypermodel, including networks. A StepSize without an Optimizer is a step size of
	// SGD.
	StepSize float64 `run:"true"`
	// FreeSteps removes the limit on the steps of SGD and SGLD, as in the experiments. Without FreeSteps, steps stay
	// below the limit of stability, which train.Config.StepLimit computes for beliefs that are linear in theta. With
	// arms, a StepSize above the limit is an error, and the default is at most half of the limit. With features, the
	// limit depends on the data: steps are at most nine tenths of the limit for the largest input so far. With networks
	// there is no limit.
	FreeSteps bool
	// NoiseVariance is sigma_w^2 in the loss, in units of y^2. 0 means 1.
	NoiseVariance float64 `run:"true"`
	// PriorVariance is sigma_p^2 in the loss. 0 means the value for which predictions before data have variance 1 at
	// standardised inputs, as hyper.Model.UnitVariance computes it: 1/Features for a linear base model whose prior is
	// also linear, and otherwise 1.
	PriorVariance float64 `run:"true"`
	// InitVariance is sigma_p^2 of the functions in the belief's prior, see hyper.Belief. 0 means PriorVariance. A
	// negative number means 0: the prior functions are then 0.
	InitVariance float64 `run:"true"`
	// Perturbation scales the data perturbations sigma_w a^T z. 0 means 1, or no perturbation if data have Weights or
	// are Unperturbed, the belief is hyper.Conditioned, or the loss is not quadratic, as for rewards 0 and 1. A negative
	// number means no perturbation.
	Perturbation float64 `run:"true"`
	// MapStep is the step size of an affine belief's C, relative to the step size of mu. 0 means 1.
	MapStep float64 `run:"true"`
	// Clip is a bound on the norm of the gradient of L~ / |D|, over all parameters of a run. 0 means no bound.
	Clip float64
	// KL is the strength of the regularizer train.KL. 0 means 1, and a negative number means 0.
	KL float64
	// Policy computes the probabilities of actions. nil means explore.Thompson{}.
	Policy explore.Policy
}

// Choice is the decision of a learner, with the values that led to it.
type Choice struct {
	Action        *Node // int32 [runs]
	Probabilities *Node // [runs, actions], given the sampled functions
	Values        *Node // of the sampled functions, [runs, functions, actions]; not all finite in a run that diverged
}

// Init returns the state before any data. For Init and all methods below, the learner must have its defaults, and n
// holds the numbers of the runs, or is nil for the numbers of the learner itself.
func (l Learner) Init(s rng.Stream, n hyper.Numbers) train.State {
	state := l.trainer().Init(s, Sqrt(n.Of(s, "InitVariance", max(l.InitVariance, 0))))
	if l.boundsStep() {
		state[norm2] = Zeros(s.Graph(), double(s.Runs()))
	}
	return state
}

// Act decides. period is an int32 scalar that counts from 0. x holds the inputs of all actions, [runs, actions,
// features], or arms, int32 [runs, actions, 1]; nil means all arms in order. available marks the actions that may be
// taken, bool [runs, actions]; nil means all.
func (l Learner) Act(state train.State, n hyper.Numbers, s rng.Stream, period, x, available *Node) Choice {
	c := Choice{Values: hyper.Sample(l.Belief, l.trainer().Params(state), s, l.Policy.Samples(), x)}
	if x != nil {
		faults.Node(c.Values, shapes.Make(dtypes.Float32, s.Runs(), l.Policy.Samples(), x.Shape().Dim(1)),
			"the result of Predict of the belief %T", l.Belief)
	}
	now := explore.Moment{Stream: s.Named("policy"), Period: period, Numbers: n.Part(policyPrefix), Available: available}
	values := c.Values
	if l.Links() {
		values = l.Train.Loss.Link(values)
	}
	c.Probabilities, c.Action = explore.Decide(l.Policy, values, now)
	return c
}

// Links reports whether the policy gets mean responses, by the link function of the loss, and not values as the loss
// sees them.
func (l Learner) Links() bool { return l.Train.Loss != nil && !explore.IsOrdinal(l.Policy) }

// Observe adds a datum to each run, with its input x and response y [runs]. size is the number of data before it (int32
// scalar). x and actions are as in train.Trainer.Observe.
func (l Learner) Observe(state train.State, n hyper.Numbers, s rng.Stream, size, x, y, actions *Node) train.State {
	return l.ObserveWeighted(state, n, s, size, x, y, nil, actions)
}

// ObserveWeighted is Observe for a datum with a weight, [runs]: it counts as weight data. Train.Weighted must be set.
// nil means 1.
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

// Revise corrects the response of one datum of each run, see [train.Trainer.Revise]. weight is the weight of the datum,
// [runs]; nil means 1.
func (l Learner) Revise(state train.State, n hyper.Numbers, s rng.Stream, c train.Correction,
	weight *Node) train.State {
	r := l.rates(n, s)
	r.Weight = weight
	return l.trainer().Revise(state, c, r)
}

// ObserveInput is [Learner.ObserveWeighted] for a datum for which the replay buffer has no room, see
// [train.Trainer.ObserveInput].
func (l Learner) ObserveInput(state train.State, n hyper.Numbers, s rng.Stream, x, y, weight,
	actions *Node) train.State {
	r := l.rates(n, s)
	r.Weight = weight
	return l.trainer().ObserveInput(state, x, y, actions, r)
}

// Fill is [Learner.Observe] for all data of a run at once, see [train.Trainer.Fill]. It panics if the limit of the step
// size depends on the data, see FreeSteps.
func (l Learner) Fill(state train.State, n hyper.Numbers, s rng.Stream, x, y *Node) train.State {
	if l.boundsStep() {
		exceptions.Panicf("learner.Learner.Fill: the limit of the step size depends on the data; set FreeSteps")
	}
	return l.trainer().Fill(state, s, x, y, l.rates(n, s))
}

// Fit makes a period's SGD steps on the first size data (int32 scalar, at least 1). data is |D|, an int32 scalar, if
// these data are a sample of a larger set; nil means size.
func (l Learner) Fit(state train.State, n hyper.Numbers, s rng.Stream, size, data, actions *Node) train.State {
	r := l.rates(n, s)
	r.Data = data
	r.Step = l.boundedStep(state, r)
	return l.trainer().Train(state, s, size, actions, r)
}

// Predict returns the predictions of the given number of sampled functions at x, [runs, functions, inputs]. The
// predictions are mean responses: Predict applies the link of the loss, and uses the units of the responses.
func (l Learner) Predict(state train.State, s rng.Stream, functions int, x *Node) *Node {
	return l.trainer().Responses(state, hyper.Sample(l.Belief, l.trainer().Params(state), s, functions, x))
}

// At returns the predictions at x of the functions with the indices z, [runs, indices, inputs], before the link of the
// loss.
func (l Learner) At(state train.State, z index.Set, x *Node) *Node {
	return l.Belief.Predict(l.trainer().Params(state), z, x)
}

func (l Learner) trainer() train.Trainer { return train.Trainer{Belief: l.Belief, Config: l.Train} }

// Streams gives the random numbers of learners with the given seeds, uint64 [runs].
type Streams struct{ Seeds *Node }

// Init returns the stream for [Learner.Init].
func (s Streams) Init() rng.Stream { return rng.New(s.Seeds).Named("agent").Named("init") }

// Act returns the stream for a decision. decision is the number of decisions before it (scalar).
func (s Streams) Act(decision *Node) rng.Stream { return rng.New(s.Seeds).At(decision).Named("act") }

// Learn returns the stream for [Learner.Observe] of a datum and for the [Learner.Fit] after it. datum is the number of
// data, or of rounds of training, before it (scalar).
func (s Streams) Learn(datum *Node) rng.Stream { return rng.New(s.Seeds).At(datum).Named("learn") }
