package base

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Linear is the linear model f_theta(x) = theta^T x for x in R^Features, or theta^T (x, 1) with an Intercept.
type Linear struct {
	Features  int
	Intercept bool
}

func (b Linear) Validate() error {
	if err := faults.AtLeast("base.Linear: Features", b.Features, 1); err != nil {
		return err
	}
	return faults.Size("base.Linear: Features", b.Features)
}

func (b Linear) Inputs() int { return b.Features }

// UnitVariance returns the variance of independent parameters with mean 0 for which predictions at standardised inputs
// have variance 1.
func (b Linear) UnitVariance() float64 { return 1 / float64(b.weights()) }

// Groups returns one group of parameters: a weight for each feature, and the intercept if there is one.
func (b Linear) Groups() []int { return []int{b.weights()} }

func (b Linear) weights() int {
	if b.Intercept {
		return b.Features + 1
	}
	return b.Features
}

// phi returns the features of inputs x, [runs, inputs, N_theta].
func (b Linear) phi(x *Node) *Node {
	if !b.Intercept {
		return x
	}
	one := OnesLike(Slice(x, AxisRange(), AxisRange(), AxisRange(0, 1)))
	return Concatenate([]*Node{x, one}, 2)
}

// Apply returns theta^T phi(x): [runs, indices, inputs].
func (b Linear) Apply(theta, x *Node) *Node { return Einsum("rnf,rbf->rnb", theta, b.phi(x)) }
func (b Linear) Diagonal() bool             { return false }

// NoData returns the Gram matrix of an empty data set.
func (b Linear) NoData(g *Graph, runs int) *Node {
	return Zeros(g, shapes.Make(dtypes.Float32, runs, b.weights(), b.weights()))
}

// Gram returns Phi^T Phi, [runs, N_theta, N_theta].
func (b Linear) Gram(x *Node) *Node {
	phi := b.phi(x)
	return Einsum("rbf,rbg->rfg", phi, phi)
}

// Project returns Phi^T v for v [runs, inputs, columns]: [runs, N_theta, columns].
func (b Linear) Project(x, v *Node) *Node { return Einsum("rbf,rbc->rfc", b.phi(x), v) }

// GramMul returns (Phi^T Phi) v for v [runs, N_theta, columns].
func (b Linear) GramMul(gram, v *Node) *Node { return Einsum("rfg,rgc->rfc", gram, v) }
