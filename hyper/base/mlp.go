package base

import (
	"errors"
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Activation is the nonlinearity between the layers of an MLP. 0 means ActivationReLU.
type Activation int

// The activations.
const (
	ActivationReLU Activation = iota + 1
	ActivationTanh
	ActivationIdentity
)

func (a Activation) String() string { return enum.Word(a, "relu", "tanh", "identity") }

// MLP is a multi-layer perceptron with a linear output. Layers are the widths from input to output, for example 20, 10,
// 10, 1; there are at least two. The parameters are, layer by layer, the weights (output-major) and then the biases:
// the paper's "edge weights and node biases".
type MLP struct {
	Layers     []int
	Activation Activation // 0 means ActivationReLU
}

// Validate returns an error if the activation is unknown.
func (a Activation) Validate() error { return faults.Known("Activation", a) }

// Validate returns all faults of the widths and the activation.
func (b MLP) Validate() error {
	return faults.Prefix("base.MLP: ", errors.Join(b.validateLayers(), b.Activation.Validate()))
}

func (b MLP) validateLayers() error {
	if len(b.Layers) < 2 {
		return fmt.Errorf("Layers need at least an input width and an output width, got %v", b.Layers)
	}
	if slices.Min(b.Layers) < 1 {
		return fmt.Errorf("Layers must be positive widths, got %v", b.Layers)
	}
	total := 0
	for i := range len(b.Layers) - 1 {
		what := fmt.Sprintf("the weights of layer %d of %v", i+1, b.Layers)
		if err := faults.Size(what, b.Layers[i], b.Layers[i+1]); err != nil {
			return err
		}
		total += (b.Layers[i] + 1) * b.Layers[i+1]
	}
	return faults.Size("all parameters", total)
}

func (b MLP) Inputs() int     { return b.Layers[0] }
func (b MLP) NumOutputs() int { return b.Layers[len(b.Layers)-1] }

// Groups returns the number of parameters, weights and biases, of each layer.
func (b MLP) Groups() []int {
	groups := make([]int, max(len(b.Layers)-1, 0))
	for i := range groups {
		groups[i] = b.Layers[i+1] * (b.Layers[i] + 1)
	}
	return groups
}

// Apply returns the scalar outputs of an MLP whose last width is 1: [runs, indices, inputs].
func (b MLP) Apply(theta, x *Node) *Node { return Squeeze(b.Outputs(theta, x), 2) }

// ApplyMasked is Apply with the values of the hidden units multiplied by masks. masks is [runs, indices, hidden units,
// inputs], with the hidden units of all layers in order.
func (b MLP) ApplyMasked(theta, x, masks *Node) *Node {
	h, _ := b.forward(b.parts(theta), x, masks)
	return Squeeze(h, 2)
}

// Outputs returns all outputs, [runs, indices, outputs, inputs]. The layout is feature-major: the inputs stay the last
// axis, so that every layer is one batched matrix product.
func (b MLP) Outputs(theta, x *Node) *Node {
	h, _ := b.forward(b.parts(theta), x, nil)
	return h
}

// OutputsFastGradient is Outputs with a faster gradient with respect to theta: the concatenation of the gradients with
// respect to theta's parts. Automatic differentiation adds an array of theta's size for each part instead. Experiments
// keep Outputs, because XLA may round the two in different ways.
func (b MLP) OutputsFastGradient(theta, x *Node) *Node {
	var parts, gradients []*Node
	theta = IdentityWithCustomGradient(theta, func(_, _ *Node) *Node {
		for i, part := range parts {
			if gradients[i] == nil { // what is differentiated does not depend on this part
				gradients[i] = ZerosLike(part)
			}
		}
		all := Concatenate(gradients, 2)
		clear(gradients) // for the next call of Gradient
		return all
	})
	parts = b.parts(theta)
	gradients = make([]*Node, len(parts))
	for i := range parts {
		// Gradient visits the parts before theta, because they depend on theta.
		parts[i] = IdentityWithCustomGradient(parts[i], func(_, v *Node) *Node {
			gradients[i] = v
			return v
		})
	}
	h, _ := b.forward(parts, x, nil)
	return h
}

// Forward returns Apply's predictions f, and a function that returns the gradient of sum(df * f) with respect to theta,
// [runs, indices, N_theta], for df [runs, indices, inputs].
func (b MLP) Forward(theta, x *Node) (f *Node, backward func(df *Node) *Node) {
	h, layers := b.forward(b.parts(theta), x, nil)
	return Squeeze(h, 2), func(df *Node) *Node { return b.backward(layers, InsertAxes(df, 2)) }
}

// layer is an affine map with the array that it was applied to.
type layer struct {
	w *Node // weights with the biases as the last column: [runs, indices, out, in + 1]
	// in is the inputs with ones as the last row: [runs, indices, in + 1, inputs]. For the first layer it is x with
	// ones, [runs, inputs, in + 1].
	in *Node
}

// parts returns the weights and the biases of each layer, [runs, indices, their number], in the order of theta.
func (b MLP) parts(theta *Node) (parts []*Node) {
	at := 0
	part := func(size int) *Node {
		at += size
		return Slice(theta, AxisRange(), AxisRange(), AxisRange(at-size, at))
	}
	for i, out := range b.Layers[1:] {
		parts = append(parts, part(b.Layers[i]*out), part(out))
	}
	return parts
}

// forward applies the layers, whose weights and biases are the parts of theta. masks are the masks of ApplyMasked, or
// nil. The concatenations with ones have a second purpose: without them, XLA would compute a layer's inputs again for
// each of its outputs, because it fuses everything else into the loop of a product.
func (b MLP) forward(parts []*Node, x, masks *Node) (h *Node, layers []layer) {
	runs, n := parts[0].Shape().Dim(0), parts[0].Shape().Dim(1)
	unit := 0
	for i := range len(b.Layers) - 1 {
		in, out := b.Layers[i], b.Layers[i+1]
		weights, biases := parts[2*i], parts[2*i+1]
		l := layer{w: Concatenate([]*Node{Reshape(weights, runs, n, out, in), InsertAxes(biases, -1)}, 3)}
		if i == 0 {
			l.in = withOnes(x, 2)
			h = Einsum("rnoi,rbi->rnob", l.w, l.in)
		} else {
			values := b.activate(h)
			if masks != nil {
				values = Mul(values, Slice(masks, AxisRange(), AxisRange(), AxisRange(unit, unit+in)))
				unit += in
			}
			l.in = withOnes(values, 2)
			h = product(l.w, l.in)
		}
		layers = append(layers, l)
	}
	return h, layers
}

// backward returns the gradient with respect to theta, from the gradient d with respect to the outputs, [runs, indices,
// outputs, inputs].
func (b MLP) backward(layers []layer, d *Node) *Node {
	runs, n := d.Shape().Dim(0), d.Shape().Dim(1)
	parts := make([]*Node, 0, 2*len(layers))
	for i := len(layers) - 1; i >= 0; i-- {
		in, out, l := b.Layers[i], b.Layers[i+1], layers[i]
		var dw *Node // [runs, indices, out, in + 1]
		if i == 0 {
			dw = Einsum("rnob,rbi->rnoi", d, l.in)
		} else {
			dw = Einsum("rnob,rnib->rnoi", d, l.in)
			rows := func(x *Node) *Node { return Slice(x, AxisRange(), AxisRange(), AxisRange(0, in)) }
			d = Mul(rows(product(Transpose(l.w, 2, 3), d)), b.slope(rows(l.in)))
		}
		biases := Reshape(Slice(dw, AxisRange(), AxisRange(), AxisRange(), AxisElem(in)), runs, n, out)
		weights := Reshape(Slice(dw, AxisRange(), AxisRange(), AxisRange(), AxisRange(0, in)), runs, n, out*in)
		parts = append(parts, biases, weights) // in reverse order
	}
	slices.Reverse(parts)
	return Concatenate(parts, 2)
}

// withOnes appends a slice of ones along an axis.
func withOnes(x *Node, axis int) *Node {
	dims := slices.Clone(x.Shape().Dimensions)
	dims[axis] = 1
	return Concatenate([]*Node{x, Ones(x.Graph(), shapes.Make(x.DType(), dims...))}, axis)
}

// product returns w h for each run and index. w is [runs, indices, out, in], and h is [runs, indices, in, inputs]. On a
// CPU, each of XLA's matrix products costs more than a microsecond, whatever its size. One fused loop computes many
// small products at once.
func product(w, h *Node) *Node {
	if w.Shape().Dim(2)*w.Shape().Dim(3) <= 256 && backend.OnXLACPU(w.Graph().Backend()) {
		return ReduceSum(Mul(InsertAxes(w, -1), InsertAxes(h, 2)), 3)
	}
	return Einsum("rnoi,rnib->rnob", w, h)
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

// slope returns the derivative of the activation at a point where its value is a.
func (b MLP) slope(a *Node) *Node {
	switch b.Activation {
	case ActivationTanh:
		return OneMinus(Square(a))
	case ActivationIdentity:
		return OnesLike(a)
	}
	return ConvertDType(GreaterThan(a, ZerosLike(a)), a.DType())
}
