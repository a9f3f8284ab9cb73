package testbed

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// networkTruth draws the truth of classification problems. The two logits of an input x are g(x)/rho, where g is a
// random ReLU network with two hidden layers of 50 units. Weights are drawn as in [hyper.InitTruncatedLayers], the
// biases of the first layer from N(0, 1/D); all other biases are zero.
//
// A truth is the vector of parameters theta of each run, [runs, parameters]; rho is [runs].
type networkTruth struct {
	Inputs int // D: the length of an input
}

// Network returns the network g.
func (e networkTruth) Network() base.MLP { return base.MLP{Layers: []int{e.Inputs, 50, 50, 2}} }

// Init draws the truth of each run, [runs, parameters]. Parameters are in the order of [base.MLP].
func (e networkTruth) Init(s rng.Stream) *Node {
	net := e.Network()
	return hyper.InitTruncatedLayers(net, 1/math.Sqrt(float64(e.Inputs)))(s.Named("weights"), 0, 0, hyper.NumTheta(net))
}

// Logit returns the log odds of class 1 at inputs x [runs, inputs, D]: the difference of the two logits, [runs,
// inputs].
func (e networkTruth) Logit(theta, x, rho *Node) *Node {
	odds := base.LogOdds{MLP: e.Network()}.Apply(InsertAxes(theta, 1), x) // [runs, 1, inputs]
	return Div(Squeeze(odds, 1), InsertAxes(rho, -1))
}

// Data draws n pairs to learn from: inputs x [runs, n, D] from N(0, I), and their classes y [runs, n], which are 0 or 1
// in float32.
func (e networkTruth) Data(s rng.Stream, theta, rho *Node, n int) (x, y *Node) {
	x = s.Named("x").Normal(n, e.Inputs)
	one := LessThan(s.Named("y").Uniform(n), Sigmoid(e.Logit(theta, x, rho)))
	return x, ConvertDType(one, dtypes.Float32)
}
