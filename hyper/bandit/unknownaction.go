package bandit

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// UnknownAction is the bandit with one unknown action of Wen et al. ("From predictions to decisions: the importance of
// joint predictive distributions") and Osband et al. ("Approximate Thompson sampling via epistemic neural networks",
// section 3). The rewards of all arms except the last are 1 or 0, equally likely, and the agent knows this. The last
// arm always pays 1 or always pays 0, equally likely, and the agent does not know which. Before the last arm is tried,
// the marginal distributions of the next rewards of all arms are equal. Only a joint distribution of two rewards of an
// arm distinguishes the last arm from the others.
type UnknownAction struct {
	Actions int `help:"number of arms; the last one is unknown"`
}

var _ MeanReporter = &UnknownAction{}

// NewUnknownAction returns the bandit with 16 arms.
func NewUnknownAction() *UnknownAction { return &UnknownAction{Actions: 16} }

func (b *UnknownAction) Validate() error { return faults.AtLeast("actions", b.Actions, 2) }

// Problem returns the variance of a known arm's rewards, and the variance of the unknown arm's mean.
func (b *UnknownAction) Problem() Problem {
	return Problem{Actions: b.Actions, NoiseVariance: 0.25, PriorVariance: 0.25}
}

// Init draws the reward of the last arm, [runs].
func (b *UnknownAction) Init(s rng.Stream, _ hyper.Numbers) State {
	return State{"pays": coin(s.Named("pays"))}
}

// coin draws 0 or 1 for each run, equally likely.
func coin(s rng.Stream) *Node {
	return ConvertDType(Squeeze(s.Intn(Const(s.Graph(), int32(2)), 1), 1), dtypes.Float32)
}

// Means returns 1/2 for the known arms, and the reward of the last arm.
func (b *UnknownAction) Means(state State) *Node {
	pays := state["pays"]
	known := Zeros(pays.Graph(), shapes.Make(dtypes.Float32, pays.Shape().Dim(0), b.Actions-1))
	return Concatenate([]*Node{AddScalar(known, 0.5), InsertAxes(pays, -1)}, 1)
}

func (b *UnknownAction) Offer(state State, _ hyper.Numbers, _ rng.Stream, _ *Node) (Offer, State) {
	return Offer{}, state
}

// Step returns a reward of 0 or 1. It makes no array with an element for each arm, because there may be many arms.
func (b *UnknownAction) Step(state State, _ hyper.Numbers, s rng.Stream, _, x *Node) (Outcome, State) {
	pays, last := state["pays"], Equal(x, Const(s.Graph(), int32(b.Actions-1)))
	best := MaxScalar(pays, 0.5)
	mean := Where(last, pays, AddScalar(ZerosLike(pays), 0.5))
	return Outcome{Reward: Where(last, pays, coin(s.Named("noise"))), Regret: Sub(best, mean)}, state
}
