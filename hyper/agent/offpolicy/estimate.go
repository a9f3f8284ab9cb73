package offpolicy

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
)

// Estimate is the mean reward that a target policy would have had on the decisions of a log, with an interval.
type Estimate struct {
	Value  float64 // in the units of the rewards, like the next three fields
	StdErr float64
	Lower  float64 // lower end of the interval
	Upper  float64 // upper end of the interval

	Decisions int
	// Freedom is the number of degrees of freedom of StdErr, at most Decisions - 1. An interval needs enough of them.
	// It is 2 n / (kurtosis - 1) for n terms (Satterthwaite 1946), with exact moments of the weights. If few decisions
	// cause most of the variance, it is about twice their number.
	Freedom float64
	// EffectiveSize is the number of decisions with equal weights whose mean has the same variance: (sum w)^2 / sum w^2
	// (Kish 1965; Owen 2013, section 9.3), for the weights in the log. It may be large if the few weights that matter
	// are not in the log.
	EffectiveSize float64

	LargestWeight float64 // largest weight of an action that was taken, as the estimator cuts it

	// Unsupported is the target's mean probability of actions that the log never takes. Blind is the target's mean
	// probability of everything that the estimator does not learn from the log: these actions, the part that IPS.Clip
	// cuts off, and the part that Switch leaves to the model. The bias is at most Blind times the largest error there:
	// the error of the model, or of rewards taken to be 0.
	Unsupported float64
	Blind       float64
}

// String returns the value with its interval.
func (e Estimate) String() string {
	return fmt.Sprintf("%.4g [%.4g, %.4g]", e.Value, e.Lower, e.Upper)
}

// effectiveSize returns the effective number of decisions with these weights, which must not be negative.
func effectiveSize(weights []float64) float64 {
	squares := floats.Dot(weights, weights)
	if squares == 0 {
		return 0
	}
	sum := floats.Sum(weights)
	return sum * sum / squares
}
