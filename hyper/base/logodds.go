package base

import (
	"fmt"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/shapes"
)

// LogOdds is a network for two classes: its prediction is the logit of class 1 less that of class 0, which are its two
// outputs. It is the same functions as a network of one output has, but with twice the parameters in the last layer,
// each of which steps of Adam and the decay of weights move by itself; the Neural Testbed's networks are so.
type LogOdds struct{ MLP }

// Validate reports what is wrong with the network.
func (b LogOdds) Validate() error {
	if err := b.MLP.Validate(); err != nil {
		return err
	}
	if b.MLP.NumOutputs() != 2 {
		return fmt.Errorf("base.LogOdds: Layers must end with 2, the classes, got %v", b.Layers)
	}
	return nil
}

// NumOutputs is 1, the log odds.
func (b LogOdds) NumOutputs() int { return 1 }

// Apply returns the log odds of class 1: [runs, indices, inputs].
func (b LogOdds) Apply(theta, x *Node) *Node {
	f, _ := b.Forward(theta, x)
	return f
}

// Forward returns what Apply does, and a function that returns the gradient of sum(df * f) with respect to theta: see
// [MLP.Forward]. It is for wide layers: unlike there biases are added, and sums over inputs are matrix products.
func (b LogOdds) Forward(theta, x *Node) (f *Node, backward func(df *Node) *Node) {
	runs, n, at := theta.Shape().Dim(0), theta.Shape().Dim(1), 0
	part := func(dims ...int) *Node { // the next parameters
		size := 1
		for _, d := range dims {
			size *= d
		}
		at += size
		return Reshape(Slice(theta, AxisRange(), AxisRange(), AxisRange(at-size, at)), append([]int{runs, n}, dims...)...)
	}
	last := len(b.Layers) - 2
	var weights, units []*Node // of each hidden layer: [runs, n, out, in] and [runs, n, out, inputs]
	for i := range last {
		w, bias := part(b.Layers[i+1], b.Layers[i]), part(b.Layers[i+1])
		var h *Node
		if i == 0 {
			h = Einsum("rnoi,rbi->rnob", w, x)
		} else {
			h = Einsum("rnoi,rnib->rnob", w, units[i-1])
		}
		weights, units = append(weights, w), append(units, b.activate(Add(h, InsertAxes(bias, -1))))
	}
	difference := func(pair *Node) *Node { // of the two outputs' parameters
		output := func(i int) *Node { return Squeeze(Slice(pair, AxisRange(), AxisRange(), AxisElem(i)), 2) }
		return Sub(output(1), output(0))
	}
	v, c := difference(part(2, b.Layers[last])), difference(part(2))
	if last == 0 {
		f = Einsum("rni,rbi->rnb", v, x)
	} else {
		f = Einsum("rni,rnib->rnb", v, units[last-1])
	}
	f = Add(f, InsertAxes(c, -1))
	return f, func(df *Node) *Node { return b.pull(df, x, v, weights, units) }
}

// pull is the gradient of sum(df * f) with respect to theta, for what Forward made.
func (b LogOdds) pull(df, x, v *Node, weights, units []*Node) *Node {
	runs, n, last := df.Shape().Dim(0), df.Shape().Dim(1), len(units)
	ones := Ones(df.Graph(), shapes.Make(df.DType(), df.Shape().Dim(2)))
	flat := func(x *Node) *Node { return Reshape(x, runs, n, -1) }
	signs := func(x *Node) *Node { return Concatenate([]*Node{Neg(flat(x)), flat(x)}, 2) } // of the two outputs
	bias := signs(Einsum("rnb,b->rn", df, ones))
	if last == 0 {
		return Concatenate([]*Node{signs(Einsum("rnb,rbi->rni", df, x)), bias}, 2)
	}
	parts := []*Node{bias, signs(Einsum("rnb,rnib->rni", df, units[last-1]))} // from the end
	d := Mul(InsertAxes(v, -1), InsertAxes(df, 2))
	for i := last - 1; i >= 0; i-- {
		d = Mul(d, b.slope(units[i]))
		parts = append(parts, Einsum("rnob,b->rno", d, ones))
		if i == 0 {
			parts = append(parts, flat(Einsum("rnob,rbi->rnoi", d, x)))
		} else {
			parts = append(parts, flat(Einsum("rnob,rnib->rnoi", d, units[i-1])))
			d = Einsum("rnoi,rnob->rnib", weights[i], d)
		}
	}
	slices.Reverse(parts)
	return Concatenate(parts, 2)
}

// Deviations are those of [MLP.Deviations], for the difference of two outputs.
func (b LogOdds) Deviations(shared int) []float64 {
	out := b.MLP.Deviations(shared)
	for i := b.Output(); i < len(out); i++ {
		out[i] /= math.Sqrt2
	}
	return out
}
