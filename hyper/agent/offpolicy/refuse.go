package offpolicy

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// These are the errors of [Evaluate]; a [Refusal] wraps one of the first three.
var (
	ErrNoOverlap  = errors.New("the target takes actions that the log never takes")
	ErrTooFew     = errors.New("too few decisions carry the estimate")
	ErrMeanWeight = errors.New("the weights contradict the logged probabilities")
	ErrNoModel    = errors.New("no predictions of a reward model")
)

// Refusal is the error of a log that does not allow an estimate with an interval.
type Refusal struct {
	Kind   error  // ErrNoOverlap, ErrTooFew or ErrMeanWeight, which the error wraps
	Why    string // the reason, with numbers
	Advice string // what to do, in the terms of this package
}

func (r *Refusal) Error() string { return fmt.Sprintf("%v: %s; %s", r.Kind, r.Why, r.Advice) }

// Unwrap returns the Kind.
func (r *Refusal) Unwrap() error { return r.Kind }

// refuse reports evidence that does not allow an estimate with an interval.
func (v *evidence) refuse(o Options) error {
	if err := v.checkSupport(o.Unsupported); err != nil {
		return err
	}
	if err := v.checkMeanWeight(); err != nil {
		return err
	}
	return v.checkFreedom(o.Least)
}

// checkSupport reports a target that takes too often actions that the log never takes.
func (v *evidence) checkSupport(most float64) error {
	if min(v.unsupported, 1) <= most { // the probabilities sum to 1 up to rounding
		return nil
	}
	return &Refusal{ErrNoOverlap, fmt.Sprintf("these actions have %.3g of the target's probability, and at most %g is "+
		"allowed", v.unsupported, most),
		"let the logging policy take every action at times (agent.Config.Floor), evaluate a target that takes only what " +
			"the log may take, or allow more by Options.Unsupported"}
}

// surely is the confidence of refusing a mean weight: one of 1,000 correct logs is refused.
const surely = 0.999

// checkMeanWeight reports a mean weight that contradicts the probabilities. The test takes the mean weight to be
// normal, and corrects the quantile of the longer tail for the skewness (Cornish and Fisher 1938).
func (v *evidence) checkMeanWeight() error {
	n, z := float64(len(v.weights)), distuv.UnitNormal.Quantile((1+surely)/2)
	half, longer := z*math.Sqrt(v.sum.second), (z*z-1)/6*v.sum.third/v.sum.second
	lower, upper := v.sum.mean-half, v.sum.mean+half
	if longer > 0 {
		upper += longer
	} else {
		lower += longer
	}
	rounding := roundings * n
	if sum := floats.Sum(v.weights); sum < lower-rounding || sum > upper+rounding { // false if a bound is NaN
		return &Refusal{ErrMeanWeight, fmt.Sprintf("the mean weight is %.4g, and with the right probabilities it is "+
			"between %.4g and %.4g in 999 logs of 1,000", sum/n, lower/n, upper/n),
			"log the probabilities that the actions were drawn from, in the order of the actions, or more decisions, if " +
				"these are partial and may lack heavy weights"}
	}
	return nil
}

// checkFreedom reports a mean whose interval would not contain the true value as often as it should.
func (v *evidence) checkFreedom(least float64) error {
	const advice = "log more decisions, evaluate a target that is nearer to the logging policy, or cut the largest weights " +
		"(IPS.Clip or Switch, which bias)"
	switch {
	case v.stdErr == 0:
		return &Refusal{ErrTooFew, "all terms are equal, so their variance is unknown", advice}
	case !(v.freedom >= least):
		return &Refusal{ErrTooFew, fmt.Sprintf("the standard error has %.3g degrees of freedom, and an interval needs %g",
			v.freedom, least), advice}
	}
	return nil
}
