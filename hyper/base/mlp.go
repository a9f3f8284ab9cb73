package base

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
)

// Activation is the nonlinearity between the layers of an MLP.
type Activation string

// The activations.
const (
	ActivationReLU     Activation = "relu"
	ActivationTanh     Activation = "tanh"
	ActivationIdentity Activation = "identity"
)

// MLP is a multi-layer perceptron with a linear output. Layers are the widths from input to output, for example
// 20, 10, 10, 1; at least two. The parameters are, layer by layer, the weights (output-major) and then the biases:
// the paper's "edge weights and node biases".
type MLP struct {
	Layers     []int
	Activation Activation // "" is ActivationReLU
}

// Validate reports what is wrong with the widths or the activation.
func (b MLP) Validate() error {
	if len(b.Layers) < 2 {
		return fmt.Errorf("an MLP needs at least an input and an output width, got %v", b.Layers)
	}
	for _, w := range b.Layers {
		if w < 1 {
			return fmt.Errorf("an MLP's widths must be positive, got %v", b.Layers)
		}
	}
	switch b.Activation {
	case "", ActivationReLU, ActivationTanh, ActivationIdentity:
		return nil
	}
	return fmt.Errorf("unknown activation %q; choose relu, tanh or identity", b.Activation)
}

// Groups returns the number of parameters, weights and biases, of each layer.
func (b MLP) Groups() []int {
	groups := make([]int, len(b.Layers)-1)
	for i := range groups {
		groups[i] = b.Layers[i+1] * (b.Layers[i] + 1)
	}
	return groups
}

// Apply returns the scalar outputs of an MLP whose last width is 1: [runs, indices, inputs].
func (b MLP) Apply(theta, x *Node) *Node { return Squeeze(b.Outputs(theta, x), 2) }

// Outputs returns all outputs, [runs, indices, outputs, inputs]. The layout is feature-major: the inputs stay last, so
// that every layer is one batched matrix product.
func (b MLP) Outputs(theta, x *Node) *Node {
	runs, n := theta.Shape().Dim(0), theta.Shape().Dim(1)
	var h *Node
	at := 0
	for i := range len(b.Layers) - 1 {
		in, out := b.Layers[i], b.Layers[i+1]
		w := Reshape(Slice(theta, AxisRange(), AxisRange(), AxisRange(at, at+in*out)), runs, n, out, in)
		bias := Slice(theta, AxisRange(), AxisRange(), AxisRange(at+in*out, at+in*out+out))
		at += in*out + out
		if i == 0 {
			h = Einsum("rnoi,rbi->rnob", w, x)
		} else {
			h = Einsum("rnoi,rnib->rnob", w, b.activate(h))
		}
		h = Add(h, InsertAxes(bias, -1))
	}
	return h
}

func (b MLP) activate(x *Node) *Node {
	switch b.Activation {
	case ActivationTanh:
		return Tanh(x)
	case ActivationIdentity:
		return x
	}
	return MaxScalar(x, 0.0)
}
