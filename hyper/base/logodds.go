package base

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"
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
func (b LogOdds) Apply(theta, x *Node) *Node { return contrast(b.Outputs(theta, x)) }

// Forward returns what Apply does, and a function that returns the gradient of sum(df * f) with respect to theta: see
// [MLP.Forward].
func (b LogOdds) Forward(theta, x *Node) (f *Node, backward func(df *Node) *Node) {
	h, layers := b.forward(theta, x, nil)
	return contrast(h), func(df *Node) *Node {
		return b.backward(layers, Concatenate([]*Node{InsertAxes(Neg(df), 2), InsertAxes(df, 2)}, 2))
	}
}

// contrast is the second output less the first, of [runs, indices, 2, inputs].
func contrast(h *Node) *Node {
	output := func(i int) *Node { return Squeeze(Slice(h, AxisRange(), AxisRange(), AxisElem(i)), 2) }
	return Sub(output(1), output(0))
}

// Deviations are those of [MLP.Deviations], for the difference of two outputs.
func (b LogOdds) Deviations(shared int) []float64 {
	out := b.MLP.Deviations(shared)
	for i := b.Output(); i < len(out); i++ {
		out[i] /= math.Sqrt2
	}
	return out
}
