package train

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Loss is what a prediction f of a response y costs, before it is divided by sigma_w^2: minus the log-likelihood, up to
// a constant. Implementations are comparable values. Graph functions work element by element, on nodes of one shape.
type Loss interface {
	// Value is the loss.
	Value(f, y *Node) *Node
	// Gradient is its derivative with respect to f.
	Gradient(f, y *Node) *Node
	// Link returns the mean response that a prediction stands for.
	Link(f *Node) *Node
	// Quadratic tells whether Value is (f - y)^2 / 2: then sums of the data are enough for the gradient.
	Quadratic() bool
}

// Bounded is a [Loss] that is not of every response.
type Bounded interface {
	Loss
	// Takes reports a response that the loss is not of.
	Takes(y float64) error
}

// Gaussian is the paper's loss, (f - y)^2 / 2, for responses with Gaussian noise of variance sigma_w^2.
type Gaussian struct{}

var _ Loss = Gaussian{}

// Value is half the square of the misfit.
func (Gaussian) Value(f, y *Node) *Node { return MulScalar(Square(Sub(y, f)), 0.5) }

// Gradient is the misfit.
func (Gaussian) Gradient(f, y *Node) *Node { return Sub(f, y) }

// Link is the prediction itself.
func (Gaussian) Link(f *Node) *Node { return f }
func (Gaussian) Quadratic() bool    { return true }
