package offpolicy

import (
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// IPS is inverse propensity scoring (Horvitz and Thompson 1952), the mean of w r. It has no bias if the log may take
// every action that the target takes. Its variance depends on the zero of the rewards: rewards 100 and 101 have more
// than 100 times the variance of rewards 0 and 1. Prefer [SNIPS].
type IPS struct {
	// Clip is the largest weight: a larger weight counts as Clip (Ionides 2008), which reduces the variance. It biases
	// the estimate by the reward of the part that it cuts off, [Estimate].Blind; the bias is downward if rewards are
	// positive. 0 means no bound.
	Clip float64
}

func (e IPS) String() string {
	if e.Clip == 0 {
		return "ips"
	}
	return fmt.Sprintf("ips, weights up to %g", e.Clip)
}

func (e IPS) validate() error { return faults.NotNegative("IPS.Clip", e.Clip) }

func (e IPS) cut(w float64) float64 {
	if e.Clip == 0 {
		return w
	}
	return min(w, e.Clip)
}

func (e IPS) parts(samples []Sample, base, residual []float64) error {
	for i := range samples {
		base[i], residual[i] = 0, samples[i].reward
	}
	return nil
}
