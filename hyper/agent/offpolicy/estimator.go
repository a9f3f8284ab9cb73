package offpolicy

import "fmt"

// Estimator is a way to estimate the mean reward of a target policy: [IPS], [SNIPS], [DoublyRobust] or [Switch]. Each
// is the mean of one term for each decision,
//
//	base + cut(w) residual
//
// with the importance weight w of the action that was taken. So the moments of the weights, which both policies'
// probabilities give exactly, and those of the residuals, which only the log has, can be told apart. They are values
// without state, and safe for concurrent use.
type Estimator interface {
	fmt.Stringer // the name, with what is set

	// validate reports a setting that is wrong.
	validate() error
	// cut is the weight that stands in the place of an importance weight w: at most w.
	cut(w float64) float64
	// parts fills in the base and the residual of every decision.
	parts(samples []Sample, base, residual []float64) error
}

// cuts is whether an estimator cuts weights of up to the most.
func cuts(e Estimator, most float64) bool { return e.cut(most) < most }
