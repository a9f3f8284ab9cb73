package offpolicy

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Evaluate estimates the mean reward of the samples' target policy on the decisions of the log. Its time is
// proportional to the number of decisions times the number of actions. The same samples give the same Estimate.
//
// If the log does not allow an estimate with an interval, the error is a [Refusal], which wraps [ErrNoOverlap],
// [ErrMeanWeight] or [ErrTooFew], and says what to do. The error wraps [ErrNoModel] if the estimator needs predictions
// that samples lack. Other errors report an invalid setting or a zero Sample.
func Evaluate(samples []Sample, e Estimator, o Options) (Estimate, error) {
	o = o.withDefaults()
	if err := check(samples, e, o); err != nil {
		return Estimate{}, err
	}
	v, err := newEvidence(samples, e)
	if err != nil {
		return Estimate{}, err
	}
	if err := v.refuse(o); err != nil {
		return Estimate{}, err
	}
	out := Estimate{Value: v.value, StdErr: v.stdErr, Decisions: len(samples), Freedom: v.freedom,
		EffectiveSize: effectiveSize(v.weights), LargestWeight: floats.Max(v.weights),
		Unsupported: v.unsupported, Blind: max(0, stat.Mean(v.blind, nil))}
	out.Lower, out.Upper = v.interval(o.Level)
	if !finite(out.Upper-out.Lower) || !finite(out.EffectiveSize) {
		return Estimate{}, errors.New("the rewards or weights are too large for double precision: rescale rewards, " +
			"cut weights")
	}
	return out, nil
}

// check reports an invalid setting or sample.
func check(samples []Sample, e Estimator, o Options) error {
	if err := faults.Value("the estimator", e); err != nil {
		return err
	}
	if err := errors.Join(e.validate(), o.validate()); err != nil {
		return err
	}
	if len(samples) < 2 {
		return &Refusal{ErrTooFew, fmt.Sprintf("got %d, and a standard error needs two", len(samples)), "log more decisions"}
	}
	for i := range samples {
		if samples[i].logged == nil {
			return fmt.Errorf("decision %d is a zero Sample: make it with NewSample or NewPartial", i)
		}
	}
	return nil
}
