package bandit

import (
	"errors"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Quadratic is the quadratic bandit of Ensemble++. The mean reward of an action x is 0.01 x^T Theta Theta^T x, where
// the components of Theta, [d, d], are N(0, 1), and rewards have noise N(0, sigma_w^2). Actions are points on the unit
// sphere, so that mean rewards are 0.01 d plus or minus 0.01 sqrt(2 d). Each run draws its own actions and Theta. In
// each period only some of the actions are offered: the actions form Offered groups of equal size, and a random action
// of each group is offered. (The paper of Ensemble++ does not say how actions are drawn.) Regret is relative to the
// best offered action.
type Quadratic struct {
	Actions       int     `help:"number of actions, points on the unit sphere"`
	Offered       int     `help:"number of actions offered in each period, drawn at random; it divides actions"`
	Features      int     `help:"d: length of an action's vector"`
	NoiseVariance float64 `run:"true" help:"sigma_w^2: variance of the rewards' noise, which the agent knows"`
}

// NewQuadratic returns the bandit with 1,000 actions of 100 features, of which 50 are offered in each period, and noise
// with deviation 0.1.
func NewQuadratic() *Quadratic {
	return &Quadratic{Actions: 1000, Offered: 50, Features: 100, NoiseVariance: 0.01}
}

func (b *Quadratic) Validate() error {
	errs := []error{faults.AtLeast("actions", b.Actions, 1), faults.AtLeast("offered", b.Offered, 1),
		faults.AtLeast("features", b.Features, 1), faults.Positive("noise-variance", b.NoiseVariance)}
	if errors.Join(errs...) == nil {
		if b.Actions%b.Offered != 0 {
			errs = append(errs, fmt.Errorf("offered must divide actions, %d, got %d", b.Actions, b.Offered))
		}
		errs = append(errs, faults.Size("actions x features", b.Actions, b.Features),
			faults.Size("features x features", b.Features, b.Features))
	}
	return errors.Join(errs...)
}

// Problem returns everything about the bandit except Theta and the actions.
func (b *Quadratic) Problem() Problem {
	return Problem{Actions: b.Offered, Features: b.Features, Moves: true, NoiseVariance: b.NoiseVariance}
}

// Init draws the actions, [runs, Actions, Features], and their mean rewards, [runs, Actions].
func (b *Quadratic) Init(s rng.Stream, _ hyper.Numbers) State {
	actions, theta := s.Named("actions").Sphere(b.Actions, b.Features), s.Named("theta").Normal(b.Features, b.Features)
	projected := Einsum("rad,rdk->rak", actions, theta) // Theta^T x
	return State{"actions": actions, "means": MulScalar(ReduceSum(Square(projected), 2), 0.01)}
}

// Offer draws one action of each group.
func (b *Quadratic) Offer(state State, _ hyper.Numbers, s rng.Stream, _ *Node) (Offer, State) {
	size := int32(b.Actions / b.Offered)
	places := s.Named("offered").Intn(Const(s.Graph(), size), b.Offered) // within groups
	places = Add(places, MulScalar(Iota(s.Graph(), places.Shape(), 1), size))
	next := State{"actions": state["actions"], "means": state["means"]}
	next["mean"] = Squeeze(row.Take(InsertAxes(state["means"], -1), places), -1)
	return Offer{X: row.Take(state["actions"], places)}, next
}

// Step returns the reward 0.01 x^T Theta Theta^T x + W.
func (b *Quadratic) Step(state State, n hyper.Numbers, s rng.Stream, _, x *Node) (Outcome, State) {
	o := reply(s, state["mean"], x, Sqrt(n.Of(s, "NoiseVariance", b.NoiseVariance)))
	return o, State{"actions": state["actions"], "means": state["means"]}
}
