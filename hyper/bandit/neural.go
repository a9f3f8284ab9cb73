package bandit

import (
	"errors"
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Neural is the bandit of section 4.2: actions uniform on the unit sphere, and mean rewards f(x) by a random ReLU
// network, the generator. Layers are the generator's widths, in the paper 20, 3, 3, 1. Both are drawn anew for each run.
type Neural struct {
	Actions int
	Layers  []int
}

// Validate reports what is wrong.
func (b Neural) Validate() error {
	var errs []error
	if b.Actions < 1 {
		errs = append(errs, fmt.Errorf("there must be at least 1 action, got %d", b.Actions))
	}
	if err := b.Generator().Validate(); err != nil {
		errs = append(errs, fmt.Errorf("generator: %w", err))
	} else if b.Layers[len(b.Layers)-1] != 1 {
		errs = append(errs, fmt.Errorf("the generator must have one output, got %d", b.Layers[len(b.Layers)-1]))
	}
	return errors.Join(errs...)
}

// Generator is the network that makes the mean rewards.
func (b Neural) Generator() base.MLP { return base.MLP{Layers: b.Layers} }

// Variances are those of the generator's parameters, in their order: 2.25 for the weights of the first layer, 2.25 over
// the fan-in for those of later ones, and 1 for biases.
func (b Neural) Variances() []float64 {
	var out []float64
	for i := range len(b.Layers) - 1 {
		weight := 2.25
		if i > 0 {
			weight /= float64(b.Layers[i])
		}
		for range b.Layers[i] * b.Layers[i+1] {
			out = append(out, weight)
		}
		for range b.Layers[i+1] {
			out = append(out, 1)
		}
	}
	return out
}

// RewardVariance is the variance of f(x) under the law of the generator, whose mean is 0, at any x on the unit sphere. Given
// the units h of a layer, a unit of the next is Gaussian with mean 0 and variance w |h|^2 + 1, w that of a weight; half of its second
// moment is that of its ReLU.
func (b Neural) RewardVariance() float64 {
	variance := 2.25 + 1 // of a unit before its ReLU; |x| = 1
	for range b.Layers[2:] {
		variance = 2.25*variance/2 + 1 // w times the number of units is 2.25
	}
	return variance
}

// Init draws the actions, [runs, Actions, features], and their mean rewards, [runs, Actions].
func (b Neural) Init(s rng.Stream) (actions, mean *Node) {
	actions = s.Named("actions").Sphere(b.Actions, b.Layers[0])
	variances := b.Variances()
	sd := make([]float32, len(variances))
	for i, v := range variances {
		sd[i] = float32(math.Sqrt(v))
	}
	theta := Mul(s.Named("generator").Normal(1, len(sd)), Const(s.Graph(), [][][]float32{{sd}}))
	return actions, Squeeze(b.Generator().Apply(theta, actions), 1)
}

// Step returns the rewards of the actions x (int32 [runs]) and their expected regrets, each [runs], for noise of standard
// deviation sigma_w [runs]. The noise of a period does not depend on the action.
func (b Neural) Step(s rng.Stream, mean, x, noise *Node) (reward, regret *Node) {
	return step(s, mean, x, noise)
}
