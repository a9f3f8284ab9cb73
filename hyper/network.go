package hyper

import (
	"errors"
	"fmt"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Network is the neural network hypermodel, or hypernetwork (section 2.4). g_nu(z) is an MLP with weights nu that maps
// the index to the N_theta parameters of the base model. Without hidden layers it is a dense [Linear] hypermodel. nu
// has one node for the weights and one for the biases of each layer: W_1 [runs, out*in], b_1 [runs, out], W_2, ...
type Network struct {
	P          index.Distribution
	Hidden     []int
	Params     int             // N_theta
	Activation base.Activation // 0 means ReLU
	// InitW draws the weights; biases are then 0. nil means the default of [Model.Init]: hidden layers have weights
	// scaled by fan-in. With an additive prior, the output layer's weights are 0, and its biases are drawn: they are
	// the base model with which all indices start. Without an additive prior, the output layer's weights give theta the
	// standard deviations of a prior, and its biases are 0.
	InitW Initializer

	start func(s rng.Stream) []*Node // if not nil, replaces InitW
}

var _ Hypermodel = Network{}

func (h Network) mlp() base.MLP {
	net := layers(h.P.Dim(), h.Hidden, h.Params)
	net.Activation = h.Activation
	return net
}

// Validate reports every fault of p_z, the widths and the activation.
func (h Network) Validate() error {
	errs := []error{validateIndex(h.P), h.Activation.Validate(), faults.AtLeast("Params", h.Params, 1)}
	if slices.ContainsFunc(h.Hidden, func(n int) bool { return n < 1 }) {
		errs = append(errs, fmt.Errorf("Hidden must be positive widths, got %v", h.Hidden))
	}
	if err := errors.Join(errs...); err != nil {
		return faults.Prefix("hyper.Network: ", err)
	}
	return faults.Prefix("hyper.Network: ", h.mlp().Validate())
}

func (h Network) Index() index.Distribution { return h.P }
func (h Network) NumTheta() int             { return h.Params }
func (h Network) NumInvolved() int          { return NumTheta(h.mlp()) }

// startIn sets start if InitW is nil. A hidden unit has variance 1 before its activation. Without an additive prior,
// theta has the standard deviations of a prior.
func (h Network) startIn(m Model, scale *Node) Hypermodel {
	if h.InitW != nil {
		return h
	}
	h.start = func(s rng.Stream) []*Node {
		layers := h.mlp().Layers
		last := len(layers) - 2
		square := h.P.Moments().Second
		var nu []*Node
		for i := range last {
			in, out := layers[i], layers[i+1]
			nu = append(nu, MulScalar(s.Named("W").Step(i).Normal(out*in), 1/math.Sqrt(float64(in)*square)),
				zeros(s, []int{out}))
			square = h.Activation.MeanSquare(1)
		}
		return append(nu, h.startOutput(m, s.Named("W").Step(last), scale, layers[last], square)...)
	}
	return h
}

// startOutput draws the weights and the biases of the last layer. The layer has in inputs, and square is the mean
// square of each input.
func (h Network) startOutput(m Model, s rng.Stream, scale *Node, in int, square float64) []*Node {
	if m.Prior != nil {
		return []*Node{zeros(s, []int{h.Params * in}), m.centre()(s.Named("b"), 1, h.Params, h.Params)}
	}
	d, output := []float64(nil), 0
	if u, ok := m.Base.(UnitBase); ok {
		d, output = u.Deviations(h.shared(m.gaussian())), u.Output()
	}
	w := MulScalar(s.Normal(h.Params, in), 1/math.Sqrt(float64(in)*square))
	w = widened(w, d, output, scale, 1)
	return []*Node{Reshape(w, s.Runs(), h.Params*in), zeros(s, []int{h.Params})}
}

// shared returns the dimension of a Gaussian vector whose squared norm has about the same relative variance as the
// squared norm of the last hidden layer, which all parameters share. It returns 0 if this variance is below 1e-3. The
// square of a unit has a variance of 5 times its squared mean after ReLU, and of at most 2 times its squared mean
// otherwise.
func (h Network) shared(gaussian bool) int {
	variance, unit := 0.0, 2.0
	if gaussian {
		variance = 2 / float64(h.P.Dim())
	}
	if h.Activation <= base.ActivationReLU {
		unit = 5
	}
	for _, n := range h.Hidden {
		variance += unit / float64(n)
	}
	if variance < 1e-3 {
		return 0
	}
	return max(int(math.Round(2/variance)), 1)
}

// Init draws the weights of each layer, and sets the biases to 0. It does not know the model: here a nil InitW means
// InitGlorotUniform.
func (h Network) Init(s rng.Stream) []*Node {
	if h.start != nil {
		return h.start(s)
	}
	init := h.InitW
	if init == nil {
		init = InitGlorotUniform
	}
	var nu []*Node
	layers := h.mlp().Layers
	for i := range len(layers) - 1 {
		in, out := layers[i], layers[i+1]
		nu = append(nu, init(s.Named("W").Step(i), in, out, out*in), zeros(s, []int{out}))
	}
	return nu
}

// Theta evaluates the network at each index, and returns [runs, indices, N_theta].
func (h Network) Theta(nu []*Node, z index.Set) *Node {
	weights := InsertAxes(Concatenate(nu, 1), 1) // the same weights for all indices: [runs, 1, N_nu]
	out := h.mlp().Outputs(weights, z.Dense())   // [runs, 1, N_theta, n]
	return Transpose(Squeeze(out, 1), 1, 2)
}
