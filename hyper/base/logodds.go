package base

import (
	"fmt"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/shapes"
)

// LogOdds is a network for two classes. Its prediction is the logit of class 1 minus the logit of class 0, which are
// its two outputs. LogOdds represents the same functions as a network with one output, but the last layer has twice as
// many parameters. Adam and weight decay change each of these parameters separately. The networks of the Neural Testbed
// are of this kind.
type LogOdds struct{ MLP }

// Validate returns all faults of the network.
func (b LogOdds) Validate() error {
	if err := b.MLP.Validate(); err != nil {
		return err
	}
	if b.MLP.NumOutputs() != 2 {
		return fmt.Errorf("base.LogOdds: Layers must end with 2, the classes, got %v", b.Layers)
	}
	return nil
}

// NumOutputs returns 1: the only output is the log odds.
func (b LogOdds) NumOutputs() int { return 1 }

// Apply returns the log odds of class 1: [runs, indices, inputs].
func (b LogOdds) Apply(theta, x *Node) *Node {
	f, _ := b.Forward(theta, x)
	return f
}

// Forward returns Apply's predictions f, and a function that returns the gradient of sum(df * f) with respect to theta,
// see [MLP.Forward]. It is made for wide layers: unlike MLP.Forward it adds biases separately, and sums over inputs by
// matrix products.
func (b LogOdds) Forward(theta, x *Node) (f *Node, backward func(df *Node) *Node) {
	runs, n, at := theta.Shape().Dim(0), theta.Shape().Dim(1), 0
	part := func(dims ...int) *Node { // takes the next parameters
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
	difference := func(pair *Node) *Node { // the difference between the parameters of the two outputs
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

// pull returns the gradient of sum(df * f) with respect to theta, from the arrays that Forward computed.
func (b LogOdds) pull(df, x, v *Node, weights, units []*Node) *Node {
	runs, n, last := df.Shape().Dim(0), df.Shape().Dim(1), len(units)
	ones := Ones(df.Graph(), shapes.Make(df.DType(), df.Shape().Dim(2)))
	flat := func(x *Node) *Node { return Reshape(x, runs, n, -1) }
	signs := func(x *Node) *Node { return Concatenate([]*Node{Neg(flat(x)), flat(x)}, 2) } // signs differ
	bias := signs(Einsum("rnb,b->rn", df, ones))
	if last == 0 {
		return Concatenate([]*Node{signs(Einsum("rnb,rbi->rni", df, x)), bias}, 2)
	}
	parts := []*Node{bias, signs(Einsum("rnb,rnib->rni", df, units[last-1]))} // in reverse order
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

// Deviations returns the deviations of [MLP.Deviations], adapted to the difference of two outputs.
func (b LogOdds) Deviations(shared int) []float64 {
	out := b.MLP.Deviations(shared)
	for i := b.Output(); i < len(out); i++ {
		out[i] /= math.Sqrt2
	}
	return out
}
