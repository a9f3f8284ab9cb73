package train

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Loss is the cost of a prediction f for a response y, before the division by sigma_w^2: minus the log-likelihood, up
// to a constant. Implementations are comparable values. Graph functions work element by element, on nodes of one shape.
//
// A loss may be [Bounded] or a [Likelihood], and may have one more method. Beliefs that are hyper.Conditioned need it:
//
//	// Curvature returns the largest second derivative of Value with respect to f. For a loss without it, 1 is taken.
//	Curvature() float64
type Loss interface {
	// Value returns the loss.
	Value(f, y *Node) *Node
	// Gradient returns the derivative of the loss with respect to f.
	Gradient(f, y *Node) *Node
	// Link returns the mean response that a prediction stands for.
	Link(f *Node) *Node
	// Quadratic reports whether Value is (f - y)^2 / 2. Sums of the data are then enough for the gradient.
	Quadratic() bool
}

// Bounded is a [Loss] that accepts only some responses.
type Bounded interface {
	Loss
	// Takes returns an error for a response that the loss does not accept.
	Takes(y float64) error
}

// Gaussian is the paper's loss, (f - y)^2 / 2, for responses with Gaussian noise of variance sigma_w^2.
type Gaussian struct{}

var _ Loss = Gaussian{}

// Value returns half the square of f - y.
func (Gaussian) Value(f, y *Node) *Node { return MulScalar(Square(Sub(y, f)), 0.5) }

// Gradient returns f - y.
func (Gaussian) Gradient(f, y *Node) *Node { return Sub(f, y) }

// Link returns the prediction itself.
func (Gaussian) Link(f *Node) *Node { return f }
func (Gaussian) Quadratic() bool    { return true }
