package bandit

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Linear is the linear bandit of Ensemble++: the mean reward of an action x in R^d is x^T theta* with theta* ~ N(0,
// sigma_p^2 I), and rewards have noise N(0, sigma_w^2). Each run draws its own actions and theta*.
//
// The code of Ensemble++ draws the components of an action uniformly from [-1/sqrt(5), 1/sqrt(5)], as Russo and Van Roy
// ("Learning to optimize via information-directed sampling") do for d = 5. The sets fifth and cube have components of
// one size with random signs. Many points on the sphere approximate a compact set in which the best action is the
// direction of theta*.
type Linear struct {
	fixedActions
	Actions       int     `help:"number of actions, drawn once per run"`
	Features      int     `help:"d: length of an action's vector"`
	ActionSet     string  `help:"components: box, within +-1/sqrt(5); fifth, +-1/sqrt(5); cube, +-1/sqrt(d); or sphere, length 1"`
	PriorVariance float64 `run:"true" help:"sigma_p^2: variance of the components of theta*, and of the agent's prior"`
	NoiseVariance float64 `run:"true" help:"sigma_w^2: variance of the rewards' noise, which the agent knows"`
}

// The values of Linear.ActionSet.
const (
	ActionsBox    = "box"
	ActionsFifth  = "fifth"
	ActionsCube   = "cube"
	ActionsSphere = "sphere"
)

var _ MeanReporter = &Linear{}

// NewLinear returns the bandit with d = 10 and 100 actions.
func NewLinear() *Linear {
	return &Linear{Actions: 100, Features: 10, ActionSet: ActionsBox, PriorVariance: 10, NoiseVariance: 1}
}

func (b *Linear) Validate() error {
	errs := []error{faults.AtLeast("actions", b.Actions, 1), faults.AtLeast("features", b.Features, 1)}
	sets := []string{ActionsBox, ActionsFifth, ActionsCube, ActionsSphere}
	if !slices.Contains(sets, b.ActionSet) {
		errs = append(errs, fmt.Errorf("action-set: unknown %q; choose one of %s", b.ActionSet, strings.Join(sets, ", ")))
	}
	if errors.Join(errs...) == nil {
		errs = append(errs, faults.Size("actions x features", b.Actions, b.Features))
	}
	return errors.Join(append(errs, faults.Positive("prior-variance", b.PriorVariance),
		faults.Positive("noise-variance", b.NoiseVariance))...)
}

// Problem returns everything about the bandit except theta* and the actions.
func (b *Linear) Problem() Problem {
	return Problem{
		Actions: b.Actions, Features: b.Features, NoiseVariance: b.NoiseVariance, PriorVariance: b.PriorVariance,
		Truth: &Truth{Base: base.Linear{Features: b.Features}, Variance: b.PriorVariance},
	}
}

// Init draws theta* and the actions. The state has the actions, [runs, Actions, Features], and their mean rewards,
// [runs, Actions].
func (b *Linear) Init(s rng.Stream, n hyper.Numbers) State {
	theta := s.Named("theta").Normal(b.Features)
	theta = Mul(theta, InsertAxes(Sqrt(n.Of(s, "PriorVariance", b.PriorVariance)), -1))
	actions := b.draw(s.Named("actions"))
	return State{"actions": actions, "mean": ReduceSum(Mul(actions, InsertAxes(theta, 1)), 2)}
}

func (b *Linear) draw(s rng.Stream) *Node {
	length := 1 / math.Sqrt(5)
	if b.ActionSet == ActionsCube {
		length = 1 / math.Sqrt(float64(b.Features))
	}
	switch b.ActionSet {
	case ActionsSphere:
		return s.Sphere(b.Actions, b.Features)
	case ActionsBox:
		return MulScalar(AddScalar(MulScalar(s.Uniform(b.Actions, b.Features), 2), -1), length)
	}
	return MulScalar(s.Signs(b.Actions, b.Features), length)
}

// Step returns the reward x^T theta* + W.
func (b *Linear) Step(state State, n hyper.Numbers, s rng.Stream, _, x *Node) (Outcome, State) {
	return reply(s, state["mean"], x, Sqrt(n.Of(s, "NoiseVariance", b.NoiseVariance))), state
}
