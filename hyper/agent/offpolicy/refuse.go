package offpolicy

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// What [Evaluate] refuses: the first three by a [Refusal].
var (
	ErrNoOverlap  = errors.New("the target takes actions that the log never takes")
	ErrTooFew     = errors.New("too few decisions carry the estimate")
	ErrMeanWeight = errors.New("the logged probabilities are not those that the actions were drawn from")
	ErrNoModel    = errors.New("no predictions of a reward model")
)

// Refusal is the error where a log does not allow an estimate with an interval.
type Refusal struct {
	Kind   error  // ErrNoOverlap, ErrTooFew or ErrMeanWeight, which the error wraps
	Why    string // with the numbers
	Advice string // what to do, in the words of this package
}

func (r *Refusal) Error() string { return fmt.Sprintf("%v: %s; %s", r.Kind, r.Why, r.Advice) }

// Unwrap returns the Kind.
func (r *Refusal) Unwrap() error { return r.Kind }

// refuse reports evidence that does not make an estimate with an interval.
func (v *evidence) refuse(o Options) error {
	if err := v.checkSupport(o.Unsupported); err != nil {
		return err
	}
	if err := v.checkMeanWeight(); err != nil {
		return err
	}
	if o.Interval.asymptotic() {
		return v.checkFreedom(o.Least)
	}
	return nil
}

// checkSupport reports a target that takes too often what the log never takes.
func (v *evidence) checkSupport(most float64) error {
	if min(v.unsupported, 1) <= most { // it sums to 1 up to rounding
		return nil
	}
	return &Refusal{ErrNoOverlap, fmt.Sprintf("%.3g of its probability is on them, above %g", v.unsupported, most),
		"let the logging policy take every action at times (agent.Config.Floor), evaluate a target that takes only what " +
			"the log may take, or allow more by Options.Unsupported"}
}

// surely is how surely a mean weight is wrong that is refused: of 1,000 right logs one is.
const surely = 0.999

// checkMeanWeight reports a mean weight that is not what the probabilities make it: as a normal deviate, with the
// quantile of the tail that is longer corrected for the skewness (Cornish and Fisher 1938).
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
	if sum := floats.Sum(v.weights); sum < lower-rounding || sum > upper+rounding { // never where a bound is NaN
		return &Refusal{ErrMeanWeight, fmt.Sprintf("the mean weight is %.4g, and with the right probabilities it is "+
			"between %.4g and %.4g in 999 logs of 1,000", sum/n, lower/n, upper/n),
			"log the probabilities that the actions were drawn from, in the order of the actions, or more decisions, if " +
				"these are partial and may lack heavy weights"}
	}
	return nil
}

// checkFreedom reports a mean whose interval would not hold the truth as often as it should.
func (v *evidence) checkFreedom(least float64) error {
	const advice = "log more decisions, evaluate a target that is nearer to the logging policy, cut the largest weights " +
		"(IPS.Clip or Switch, which bias), or ask for a Bernstein interval"
	switch {
	case v.stdErr == 0:
		return &Refusal{ErrTooFew, "all terms are equal, which does not tell how far they may vary", advice}
	case !(v.freedom >= least):
		return &Refusal{ErrTooFew, fmt.Sprintf("the standard error has %.3g degrees of freedom, and an interval needs %g",
			v.freedom, least), advice}
	}
	return nil
}
