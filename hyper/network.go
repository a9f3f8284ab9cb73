package hyper

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Network is the neural network hypermodel, or hypernetwork (section 2.4): g_nu(z) is an MLP with weights nu from the
// index to the N_theta parameters of the base model. Without hidden layers it is a dense [Linear] hypermodel. nu is one
// node per layer and kind: W_1 [runs, out*in], b_1 [runs, out], W_2, ...
type Network struct {
	P          index.Distribution
	Hidden     []int
	Params     int             // N_theta
	Activation base.Activation // "" is ReLU
	InitW      Initializer     // of the weights; nil is InitGlorotUniform
}

var _ Hypermodel = Network{}

func (h Network) mlp() base.MLP {
	layers := append(append([]int{h.P.Dim()}, h.Hidden...), h.Params)
	return base.MLP{Layers: layers, Activation: h.Activation}
}

// Index is the reference distribution p_z.
func (h Network) Index() index.Distribution { return h.P }

// NumTheta is N_theta.
func (h Network) NumTheta() int { return h.Params }

// NumInvolved counts all weights and biases.
func (h Network) NumInvolved() int { return NumTheta(h.mlp()) }

// Init draws the weights of each layer, and sets the biases to zero.
func (h Network) Init(s rng.Stream) []*Node {
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

// Theta evaluates the network at each index.
func (h Network) Theta(nu []*Node, z index.Set) *Node {
	weights := InsertAxes(Concatenate(nu, 1), 1) // one "model" for all indices: [runs, 1, N_nu]
	out := h.mlp().Outputs(weights, z.Dense())   // [runs, 1, N_theta, n]
	return Transpose(Squeeze(out, 1), 1, 2)
}
