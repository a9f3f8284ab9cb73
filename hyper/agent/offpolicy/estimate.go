package offpolicy

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
)

// Estimate is the mean reward that a target policy would have had on the decisions of a log, with an interval.
type Estimate struct {
	Value  float64 // in the units of the rewards, as are the next three
	StdErr float64
	Lower  float64 // of the interval
	Upper  float64

	Decisions int
	// Freedom are the degrees of freedom of StdErr, at most Decisions - 1: what an interval needs. They are 2 n /
	// (kurtosis - 1) for n terms (Satterthwaite 1946), with exact moments of the weights: about twice the number of
	// decisions that make most of the variance, where these are few.
	Freedom float64
	// EffectiveSize is how many decisions of equal weight have a mean of the same variance: (sum w)^2 / sum w^2 (Kish
	// 1965; Owen 2013, section 9.3), of the weights that were seen. It may be large where the few weights that matter
	// were not seen.
	EffectiveSize float64

	LargestWeight float64 // of the action that was taken, as the estimator cuts it

	// Unsupported is the target's mean probability of actions that the log never takes. Blind is that of all that the
	// estimator does not learn from the log: these, what IPS.Clip cuts off, and what Switch leaves to the model. The
	// bias is at most Blind times the largest error there: of the model, or of rewards taken to be 0.
	Unsupported float64
	Blind       float64
}

// String is the value with its interval.
func (e Estimate) String() string {
	return fmt.Sprintf("%.4g [%.4g, %.4g]", e.Value, e.Lower, e.Upper)
}

// effectiveSize is that of weights, which are not negative.
func effectiveSize(weights []float64) float64 {
	squares := floats.Dot(weights, weights)
	if squares == 0 {
		return 0
	}
	sum := floats.Sum(weights)
	return sum * sum / squares
}
