// Package bandit holds simulated environments, called worlds. A world draws a truth, offers actions, answers an action
// with a reward, and knows the regret. A [Problem] is what is known about a world beforehand; learners are made for a
// Problem.
package bandit

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// World is an environment. Its methods build graphs for a batch of runs. An implementation is a pointer to a struct
// whose fields with the tag help are its settings, see catalog.Key. Results record these alone. A float64 field with
// the tag run:"true" is a number that may differ between the runs of a batch, see hyper.Numbers.
type World interface {
	// Validate returns all faults of the settings.
	Validate() error
	// Problem returns what a learner may know beforehand. The settings must be valid.
	Problem() Problem
	// Init draws the truth of each run.
	Init(s rng.Stream, n hyper.Numbers) State
	// Offer returns the actions of a period (counted from 0, an int32 scalar), and the state for Step. The stream s
	// belongs to the period.
	Offer(state State, n hyper.Numbers, s rng.Stream, period *Node) (Offer, State)
	// Step returns the outcome of each run's action (int32 [runs]), and the state for the next period.
	Step(state State, n hyper.Numbers, s rng.Stream, period, action *Node) (Outcome, State)
}

// FromFile is a capability of a World whose truth is in a file. Results record the contents of the file by their hash.
type FromFile interface {
	World
	// Source returns the name of the file, and the SHA-256 of its contents in hex. The settings must be valid.
	Source() (file, sha256 string)
}

// Recalled is a capability of a FromFile: results that record a Shape can be read without the file.
type Recalled interface {
	FromFile
	// Shape returns what Problem depends on besides the settings. ok is false if results need not record it. The
	// settings must be valid.
	Shape() (s Shape, ok bool)
	// Recall makes the settings valid without the file, for Source and Problem only. The other methods need the file.
	Recall(sha256 string, s Shape) error
	// Forget undoes Recall, and reports whether Recall was called.
	Forget() bool
}

// Shape is the number of actions of a table, and of numbers that its context has.
type Shape struct {
	Actions int `json:"actions"`
	Width   int `json:"width"`
}

// MeanReporter is a capability of a World: it reports the truth, for comparison with the belief of an agent.
type MeanReporter interface {
	World
	// Means returns the mean reward of each action in the coming period, [runs, actions], or nil if the world cannot
	// report it.
	Means(state State) *Node
}

// State maps names to the nodes that a world, or an agent in it, carries from period to period. The first axis is the
// runs axis.
type State = map[string]*Node

// Offer describes the actions of a period. Actions with features have them in X; actions without features are arms.
type Offer struct {
	X         *Node // features of each action, [runs, actions, features]; nil for arms
	Context   *Node // features of the period that all actions share, [runs, features]; nil for none
	Available *Node // the actions that are available, bool [runs, actions]; nil if all are
}

// Inputs returns the learner's input for each action, [runs, actions, features], or nil for arms. A context is appended
// to the features of every action. For arms with a context, the context is the only feature: each arm has it in a block
// of its own, as usual for contextual bandits with disjoint models (Li et al. 2010).
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

// Outcome is a world's answer to an action. If Late is nil, the reward belongs to the action that was just taken.
type Outcome struct {
	Reward *Node // [runs]
	Regret *Node // expected reward of the best available action minus that of the action taken, [runs]
	Late   *LateReward
}

// LateReward describes the action of a reward that arrives later than its action.
type LateReward struct {
	Arrived *Node // bool scalar: whether a reward arrives in this period
	Action  *Node // action of the reward, int32 [runs]
	Input   *Node // input of that action when it was taken, [runs, features]; nil for arms
}

// Problem is what a learner may know about a world.
type Problem struct {
	Actions  int  // the largest number of actions that are offered
	Features int  // number of features of an input; 0 for arms
	Blocks   int  // number of blocks of an input, which are 0 except for the action's own, see Offer.Inputs; 0 means 1
	Numbered bool // whether an input is the number of its block and the numbers of that block
	Moves    bool // whether inputs change from period to period; a learner then keeps them with the data
	Delays   bool // whether rewards may arrive late; outcomes then have Late
	// NoiseVariance is the variance of the rewards' noise that a learner may know. PriorVariance is sigma_p^2 in the
	// loss. RewardVariance is the variance of an action's mean reward over worlds; it is used if the loss has no
	// sigma_p^2. 0 means unknown.
	NoiseVariance, PriorVariance, RewardVariance float64
	// Truth is the distribution of the mean rewards as a function of an input. It is nil if unknown.
	Truth *Truth
}

// Truth is a distribution over functions: a base model with independent Gaussian parameters.
type Truth struct {
	Base     hyper.BaseModel
	StdDev   []float64 // standard deviation of each parameter; nil means 1
	Mean     float64   // mean of each parameter
	Variance float64   // factor of the square of StdDev
	// Wider returns the StdDev for a network with other layers, such that its predictions have the same variance. It is
	// nil if there is no such function.
	Wider func(layers []int) []float64
}

// pickRow returns x[run, action[run]] for x [runs, actions, features] and action int32 [runs].
func pickRow(x, action *Node) *Node {
	at := Equal(Iota(x.Graph(), shapes.Make(dtypes.Int32, x.Shape().Dimensions...), 1), InsertAxes(action, -1, -1))
	return ReduceSum(Where(at, x, ZerosLike(x)), 1)
}

// reply returns the outcome of an action x (int32 [runs]) in a world with the given mean rewards [runs, actions] and
// standard deviation of the noise [runs]. The noise of a period does not depend on the action, so that two agents with
// one seed meet the same world.
func reply(s rng.Stream, means, x, noise *Node) Outcome {
	mean := Squeeze(pickRow(InsertAxes(means, -1), x), -1)
	w := Mul(Squeeze(s.Named("noise").Normal(1), 1), noise)
	return Outcome{Reward: Add(mean, w), Regret: Sub(ReduceMax(means, 1), mean)}
}

// fixedActions is the part of a world that offers the same actions in every period. The state has the actions and their
// mean rewards.
type fixedActions struct{}

// Means returns the mean rewards in the state.
func (fixedActions) Means(state State) *Node { return state["mean"] }

func (fixedActions) Offer(state State, _ hyper.Numbers, _ rng.Stream, _ *Node) (Offer, State) {
	return Offer{X: state["actions"]}, state
}
