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

// NeuralLogistic is the neural bandit of "Approximate Thompson Sampling via Epistemic Neural Networks" (Osband et al.
// 2023, section 5). Actions are drawn once from N(0, I). A reward is 1 with probability p(x) = sigmoid((g_1(x) -
// g_0(x)) / rho), and otherwise 0. g is the generator of the Neural Testbed (Osband et al. 2022), a random ReLU network
// with two outputs: weights are as in hyper.InitTruncatedLayers, the first biases are drawn from N(0, 1/Features), and
// the other biases are 0. Each run draws its own actions and generator. The logistic loss suits this world; its
// predictions are (g_1 - g_0) / rho.
type NeuralLogistic struct {
	fixedActions
	Actions     int     `help:"number of actions, from N(0, I)"`
	Features    int     `help:"D: length of an action's vector"`
	Generator   []int   `help:"widths of the hidden layers of the network of reward probabilities, as 50x50"`
	Temperature float64 `run:"true" help:"rho: divides the network's logits; smaller values make rewards more certain"`
}

var _ MeanReporter = &NeuralLogistic{}

// NewNeuralLogistic returns the bandit with 1,000 actions of 100 features and a temperature of 0.1.
func NewNeuralLogistic() *NeuralLogistic {
	return &NeuralLogistic{Actions: 1000, Features: 100, Generator: []int{50, 50}, Temperature: 0.1}
}

func (b *NeuralLogistic) Validate() error {
	errs := []error{faults.AtLeast("actions", b.Actions, 1), faults.AtLeast("features", b.Features, 1),
		faults.Positive("temperature", b.Temperature)}
	if len(b.Generator) == 0 {
		errs = append(errs, errors.New("generator needs hidden layers, as 50x50"))
	} else {
		errs = append(errs, faults.Prefix("generator: ", b.network().Validate()))
	}
	return errors.Join(errs...)
}

// network returns the network that makes the two logits.
func (b *NeuralLogistic) network() base.LogOdds {
	return base.LogOdds{MLP: base.MLP{Layers: slices.Concat([]int{b.Features}, b.Generator, []int{2})}}
}

// Problem returns only the shape of the inputs: the truth is not a function with independent Gaussian parameters, and
// the noise of rewards does not have one variance.
func (b *NeuralLogistic) Problem() Problem { return Problem{Actions: b.Actions, Features: b.Features} }

// Init draws the actions, [runs, Actions, Features], and their probabilities of a reward of 1, [runs, Actions].
func (b *NeuralLogistic) Init(s rng.Stream, n hyper.Numbers) State {
	actions, net := s.Named("actions").Normal(b.Actions, b.Features), b.network()
	draw := hyper.InitTruncatedLayers(net.MLP, 1/math.Sqrt(float64(b.Features)))
	theta := draw(s.Named("generator"), 0, 0, 1, hyper.NumTheta(net))
	odds := Squeeze(net.Apply(theta, actions), 1) // [runs, Actions]
	rho := InsertAxes(n.Of(s, "Temperature", b.Temperature), -1)
	return State{"actions": actions, "mean": Sigmoid(Div(odds, rho))}
}

// Step returns 1 if a uniform random number is less than p(x), and otherwise 0. The random number of a period is the
// same for all actions, so that two agents with one seed meet the same world.
func (b *NeuralLogistic) Step(state State, _ hyper.Numbers, s rng.Stream, _, x *Node) (Outcome, State) {
	p := Squeeze(pickRow(InsertAxes(state["mean"], -1), x), -1)
	one := LessThan(Squeeze(s.Named("noise").Uniform(1), 1), p)
	return Outcome{Reward: ConvertDType(one, p.DType()), Regret: Sub(ReduceMax(state["mean"], 1), p)}, state
}
