package train

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
)

// LogisticLoss is the loss of responses 0 or 1, or of shares in [0, 1], where a prediction f is the logarithm of the
// odds: log(1 + e^f) - y f, minus the log-likelihood of logistic regression. A belief over f is then one over
// probabilities. It goes with Weights, or with sigma_w = 1 and no perturbations: a response with noise added is no
// longer in [0, 1].
type LogisticLoss struct{}

var _ Bounded = LogisticLoss{}

// Takes reports a response outside of [0, 1].
func (LogisticLoss) Takes(y float64) error {
	if !(y >= 0 && y <= 1) {
		return fmt.Errorf("a response of the logistic loss must be in [0, 1], got %v", y)
	}
	return nil
}

// Value is log(1 + e^f) - y f, without overflow.
func (LogisticLoss) Value(f, y *Node) *Node {
	softplus := Add(MaxScalar(f, 0), Log1P(Exp(Neg(Abs(f)))))
	return Sub(softplus, Mul(y, f))
}

// Gradient is what the probability misses.
func (LogisticLoss) Gradient(f, y *Node) *Node { return Sub(Sigmoid(f), y) }

// Link returns the probability, 1 / (1 + e^-f).
func (LogisticLoss) Link(f *Node) *Node { return Sigmoid(f) }
func (LogisticLoss) Quadratic() bool    { return false }
