package offpolicy

import (
	"cmp"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Switch is [DoublyRobust] for actions whose weight is at most a threshold, and uses only the reward model for other
// actions (SWITCH-DR, Wang, Agarwal and Dudik 2017): the mean of q(pi) + w (r - q) 1{w <= Threshold}. Its interval
// contains the mean of its own terms. That mean differs from the value of the target by the model's error, weighted by
// the probability that is left to the model, [Estimate].Blind: at most Blind times the model's largest error there.
type Switch struct {
	Threshold float64 // largest weight for which the log is used; 0 means 10
}

func (e Switch) String() string { return fmt.Sprintf("switch, weights up to %g", e.threshold()) }

func (e Switch) threshold() float64 { return cmp.Or(e.Threshold, 10) }

func (e Switch) validate() error { return faults.NotNegative("Switch.Threshold", e.Threshold) }

func (e Switch) cut(w float64) float64 {
	if w > e.threshold() {
		return 0
	}
	return w
}

func (e Switch) parts(samples []Sample, base, residual []float64) error {
	return DoublyRobust{}.parts(samples, base, residual)
}
