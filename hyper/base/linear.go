package base

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Linear is f_theta(x) = theta^T x for x in R^Features; append a constant feature for an intercept.
type Linear struct{ Features int }

// Validate reports what is wrong.
func (b Linear) Validate() error {
	if err := faults.AtLeast("base.Linear: Features", b.Features, 1); err != nil {
		return err
	}
	return faults.Size("base.Linear: Features", b.Features)
}

// Inputs is the number of features of an input.
func (b Linear) Inputs() int { return b.Features }

// UnitVariance is the variance of independent parameters of mean 0 under which predictions have variance 1 over
// standardised inputs.
func (b Linear) UnitVariance() float64 { return 1 / float64(b.Features) }

// Groups returns one group of parameters, a weight for each feature.
func (b Linear) Groups() []int { return []int{b.Features} }

// Apply returns theta^T x: [runs, indices, inputs].
func (b Linear) Apply(theta, x *Node) *Node { return Einsum("rnf,rbf->rnb", theta, x) }

// NoData returns the Gram matrix of no data.
func (b Linear) NoData(g *Graph, runs int) *Node {
	return Zeros(g, shapes.Make(dtypes.Float32, runs, b.Features, b.Features))
}

// Gram returns Phi^T Phi, [runs, Features, Features].
func (b Linear) Gram(x *Node) *Node { return Einsum("rbf,rbg->rfg", x, x) }

// Project returns Phi^T v for v [runs, inputs, columns]: [runs, Features, columns].
func (b Linear) Project(x, v *Node) *Node { return Einsum("rbf,rbc->rfc", x, v) }

// GramMul returns (Phi^T Phi) v for v [runs, Features, columns].
func (b Linear) GramMul(gram, v *Node) *Node { return Einsum("rfg,rgc->rfc", gram, v) }
