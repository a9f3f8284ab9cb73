package bandit

import (
	"errors"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Neural is the bandit of section 4.2. Actions are uniform on the unit sphere, and the mean reward f(x) is a random
// ReLU network, the generator. Each run draws its own actions and generator.
type Neural struct {
	fixedActions
	Actions   int     `help:"number of actions, uniform on the unit sphere"`
	Features  int     `help:"d: length of an action's vector"`
	Generator []int   `help:"widths of the hidden layers of the reward and prior networks, as 3x3"`
	Noise     float64 `run:"true" help:"sigma_w of the environment: standard deviation of the rewards' noise"`
}

var _ MeanReporter = &Neural{}

// NewNeural returns the bandit of section 4.2 with 200 actions.
func NewNeural() *Neural {
	return &Neural{Actions: 200, Features: 20, Generator: []int{3, 3}, Noise: 1}
}

func (b *Neural) Validate() error {
	errs := []error{faults.AtLeast("actions", b.Actions, 1), faults.AtLeast("features", b.Features, 1),
		faults.NotNegative("noise", b.Noise)}
	if len(b.Generator) == 0 {
		errs = append(errs, errors.New("generator needs hidden layers, as 3x3"))
	} else {
		errs = append(errs, faults.Prefix("generator: ", b.network().Validate()))
	}
	return errors.Join(errs...)
}

// network returns the network that makes the mean rewards.
func (b *Neural) network() base.MLP {
	return base.MLP{Layers: slices.Concat([]int{b.Features}, b.Generator, []int{1})}
}

// Problem returns the distribution of the generator. It has no sigma_p^2 for the loss.
func (b *Neural) Problem() Problem {
	net := b.network()
	return Problem{
		Actions: b.Actions, Features: b.Features,
		NoiseVariance: float64(float32(b.Noise) * float32(b.Noise)), RewardVariance: b.RewardVariance(),
		Truth: &Truth{Base: net, StdDev: deviations(net.Layers), Variance: 1, Wider: deviations},
	}
}

// deviations returns the standard deviations of the parameters of a generator with the given layers, in the order of
// the parameters. The variances are 2.25 for weights of the first layer, 2.25 divided by the fan-in for weights of
// later layers, and 1 for biases.
func deviations(layers []int) []float64 {
	var out []float64
	for i := range len(layers) - 1 {
		weight := 2.25
		if i > 0 {
			weight /= float64(layers[i])
		}
		out = append(out, slices.Repeat([]float64{math.Sqrt(weight)}, layers[i]*layers[i+1])...)
		out = append(out, slices.Repeat([]float64{1}, layers[i+1])...)
	}
	return out
}

// RewardVariance returns the variance of f(x) over random generators, which is the same for all x on the unit sphere;
// the mean of f(x) is 0. Given the units h of a layer, a unit of the next layer is Gaussian with mean 0 and variance w
// |h|^2 + 1, where w is the variance of a weight. The second moment of its ReLU is half of that variance.
func (b *Neural) RewardVariance() float64 {
	variance := 2.25 + 1 // variance of a unit before its ReLU; |x| = 1
	for range b.Generator {
		variance = 2.25*variance/2 + 1 // w times the number of units is 2.25
	}
	return variance
}

// Init draws the actions, [runs, Actions, Features], and their mean rewards, [runs, Actions].
func (b *Neural) Init(s rng.Stream, _ hyper.Numbers) State {
	actions := s.Named("actions").Sphere(b.Actions, b.Features)
	var sd []float32
	for _, d := range deviations(b.network().Layers) {
		sd = append(sd, float32(d))
	}
	theta := Mul(s.Named("generator").Normal(1, len(sd)), Const(s.Graph(), [][][]float32{{sd}}))
	return State{"actions": actions, "mean": Squeeze(b.network().Apply(theta, actions), 1)}
}

// Step returns the reward f(x) + W.
func (b *Neural) Step(state State, n hyper.Numbers, s rng.Stream, _, x *Node) (Outcome, State) {
	return reply(s, state["mean"], x, n.Of(s, "Noise", b.Noise)), state
}
