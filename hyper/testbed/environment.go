package testbed

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Environment draws the truth of classification problems: the two logits of an input x are g(x)/rho by a random ReLU
// network g with two hidden layers of 50 units. Weights are those of [hyper.InitTruncatedLayers], the biases of the
// first layer N(0, 1/D), and others zero.
//
// A truth is the parameters theta of each run, [runs, parameters]; rho is [runs].
type Environment struct {
	Inputs int // D: the length of an input
}

// Validate reports an impossible number of inputs.
func (e Environment) Validate() error {
	err := faults.AtLeast("Inputs", e.Inputs, 1)
	if err == nil {
		err = e.Network().Validate()
	}
	return faults.Prefix("testbed.Environment: ", err)
}

// Network is g.
func (e Environment) Network() base.MLP { return base.MLP{Layers: []int{e.Inputs, 50, 50, 2}} }

// Init draws the truth of each run, [runs, parameters], in the order of [base.MLP].
func (e Environment) Init(s rng.Stream) *Node {
	net := e.Network()
	return hyper.InitTruncatedLayers(net, 1/math.Sqrt(float64(e.Inputs)))(s.Named("weights"), 0, 0, hyper.NumTheta(net))
}

// Logit returns the logarithm of the odds of class 1 at inputs x [runs, inputs, D]: the difference of the two logits,
// [runs, inputs].
func (e Environment) Logit(theta, x, rho *Node) *Node {
	odds := base.LogOdds{MLP: e.Network()}.Apply(InsertAxes(theta, 1), x) // [runs, 1, inputs]
	return Div(Squeeze(odds, 1), InsertAxes(rho, -1))
}

// Data draws n pairs to learn from: inputs x of N(0, I), [runs, n, D], and their classes y, 0 or 1 in float32,
// [runs, n].
func (e Environment) Data(s rng.Stream, theta, rho *Node, n int) (x, y *Node) {
	x = s.Named("x").Normal(n, e.Inputs)
	one := LessThan(s.Named("y").Uniform(n), Sigmoid(e.Logit(theta, x, rho)))
	return x, ConvertDType(one, dtypes.Float32)
}
