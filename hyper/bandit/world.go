// Package bandit holds simulated environments, worlds: they own the truth, offer actions, answer them with rewards, and
// know the regret. What they know of themselves beforehand, a [Problem], is what learners are made for.
package bandit

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// World is an environment. Its methods build graphs for a batch of runs. Implementations are pointers to structs, whose
// exported fields are their settings; a float64 field with the tag run:"true" is a number in which the runs of a batch
// may differ, see hyper.Numbers.
type World interface {
	// Validate reports everything that is wrong with the settings.
	Validate() error
	// Problem is what a learner may know beforehand. The settings must be valid.
	Problem() Problem
	// Init draws the truth of each run.
	Init(s rng.Stream, n hyper.Numbers) State
	// Offer returns what there is to choose from in a period (counted from 0, an int32 scalar), and the state with
	// which Step goes on. The stream is that of the period.
	Offer(state State, n hyper.Numbers, s rng.Stream, period *Node) (Offer, State)
	// Step answers each run's action (int32 [runs]), and returns the state of the next period.
	Step(state State, n hyper.Numbers, s rng.Stream, period, action *Node) (Outcome, State)
}

// FromFile is a capability of a World whose truth is in a file: results say what the file had in it.
type FromFile interface {
	World
	// Source names the file, with the SHA-256 of its contents in hex. The settings must be valid.
	Source() (file, sha256 string)
}

// Told is a capability of a World: it tells the truth, to look at beside what an agent believes.
type Told interface {
	World
	// Means returns the mean reward of each action in the coming period, [runs, actions]; nil where it has none to tell.
	Means(state State) *Node
}

// State is what a world carries from period to period: nodes by name, with the runs axis first.
type State = map[string]*Node

// Offer is what there is to choose from. Actions are told apart by their features X; without features they are arms.
type Offer struct {
	X       *Node // features of each action, [runs, actions, features]; nil for arms
	Context *Node // features of the period that all actions share, [runs, features]; nil for none
	There   *Node // which of the actions there are, bool [runs, actions]; nil for all
}

// Inputs are what a learner sees of each of so many actions, [runs, actions, features]: nil for arms. A context is
// appended to the features of every action; with arms it is their only feature, in a block of its own for each of
// them: as usual for contextual bandits with disjoint models (Li et al. 2010).
func (o Offer) Inputs(actions int) *Node {
	if o.Context == nil {
		return o.X
	}
	runs, width := o.Context.Shape().Dim(0), o.Context.Shape().Dim(1)
	if o.X != nil {
		return Concatenate([]*Node{o.X, BroadcastToDims(InsertAxes(o.Context, 1), runs, actions, width)}, 2)
	}
	g := o.Context.Graph()
	eye := OneHot(Iota(g, shapes.Make(dtypes.Int32, actions), 0), actions, dtypes.Float32) // [actions, blocks]
	// [runs, actions, blocks, width]
	blocks := Mul(InsertAxes(eye, 0, -1), InsertAxes(o.Context, 1, 1))
	return Reshape(blocks, runs, actions, actions*width)
}

// Outcome is a world's answer. Where Late is nil the reward is that of the action just taken.
type Outcome struct {
	Reward *Node // [runs]
	Regret *Node // the expected reward of the best action there was less that of the one taken, [runs]
	Late   *Late
}

// Late says what a reward belongs to that comes later than the action.
type Late struct {
	Arrived *Node // whether a reward comes in this period, a bool scalar
	Action  *Node // the action that it is of, int32 [runs]
	Input   *Node // that action's input when it was taken, [runs, features]; nil for arms
}

// Problem is what a learner may know of a world.
type Problem struct {
	Actions  int  // the most that are offered
	Features int  // of an input; 0 for arms
	Blocks   int  // of an input, all 0 but the action's own: see Offer.Inputs; 0 is 1
	Numbered bool // an input is the number of its block and the block's numbers
	Moves    bool // inputs change from period to period: a learner keeps them with the data
	Delays   bool // rewards may come late: outcomes have Late
	// NoiseVariance is that of the rewards' noise, as a learner may know it, PriorVariance is sigma_p^2 as the loss has
	// it, and RewardVariance is that of an action's mean reward over worlds where the loss has no sigma_p^2; 0 is
	// unknown.
	NoiseVariance, PriorVariance, RewardVariance float64
	// Truth is the distribution of the mean rewards as a function of an input; nil is unknown.
	Truth *Truth
}

// Truth is a distribution over functions: a base model with independent Gaussian parameters.
type Truth struct {
	Base     hyper.BaseModel
	StdDev   []float64 // of each parameter; nil is 1
	Mean     float64   // of each parameter
	Variance float64   // multiplies the square of StdDev
	// Wider returns the StdDev of such a distribution for another network, whose predictions have the same variance;
	// nil where there is none.
	Wider func(layers []int) []float64
}

// pickRow returns x[run, action[run]] for x [runs, actions, features] and action int32 [runs].
func pickRow(x, action *Node) *Node {
	at := Equal(Iota(x.Graph(), shapes.Make(dtypes.Int32, x.Shape().Dimensions...), 1), InsertAxes(action, -1, -1))
	return ReduceSum(Where(at, x, ZerosLike(x)), 1)
}

// reply is the answer to an action x (int32 [runs]) in a world with the given mean rewards [runs, actions] and standard
// deviation of the noise [runs]. The noise of a period does not depend on the action, so that two agents on one seed
// meet the same world.
func reply(s rng.Stream, means, x, noise *Node) Outcome {
	mean := Squeeze(pickRow(InsertAxes(means, -1), x), -1)
	w := Mul(Squeeze(s.Named("noise").Normal(1), 1), noise)
	return Outcome{Reward: Add(mean, w), Regret: Sub(ReduceMax(means, 1), mean)}
}
