package train

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
)

// LogisticLoss is the loss for responses 0 or 1, or for shares in [0, 1]. A prediction f is the logarithm of the odds,
// and the loss is log(1 + e^f) - y f, minus the log-likelihood of logistic regression. A belief over f is then a belief
// over probabilities, and policies compare probabilities. Use the loss with Weights, or with sigma_w = 1 and without
// perturbations: a response with added noise is outside of [0, 1].
type LogisticLoss struct{}

var _ Bounded = LogisticLoss{}

// Takes reports a response outside of [0, 1].
func (LogisticLoss) Takes(y float64) error {
	if !(y >= 0 && y <= 1) {
		return fmt.Errorf("a response of the logistic loss must be in [0, 1], got %v", y)
	}
	return nil
}

// Value returns log(1 + e^f) - y f, without overflow.
func (LogisticLoss) Value(f, y *Node) *Node {
	softplus := Add(MaxScalar(f, 0), Log1P(Exp(Neg(Abs(f)))))
	return Sub(softplus, Mul(y, f))
}

// Gradient returns the probability minus y.
func (LogisticLoss) Gradient(f, y *Node) *Node { return Sub(Sigmoid(f), y) }

// Link returns the probability, 1 / (1 + e^-f).
func (LogisticLoss) Link(f *Node) *Node { return Sigmoid(f) }
func (LogisticLoss) Quadratic() bool    { return false }
