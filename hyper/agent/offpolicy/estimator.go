package offpolicy

import "fmt"

// Estimator is a way to estimate the mean reward of a target policy: [IPS], [SNIPS], [DoublyRobust] or [Switch]. Each
// is the mean of one term for each decision,
//
//	base + cut(w) residual
//
// where w is the importance weight of the action that was taken. So the moments of the weights and of the residuals can
// be computed separately: the probabilities of both policies give the first exactly, and only the log has the second.
// Estimators are values without state, and safe for concurrent use.
type Estimator interface {
	fmt.Stringer // the name, with its settings

	// validate reports an invalid setting.
	validate() error
	// cut returns the weight that replaces an importance weight w; it is at most w.
	cut(w float64) float64
	// parts sets the base and the residual of every decision.
	parts(samples []Sample, base, residual []float64) error
}
