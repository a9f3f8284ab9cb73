package offpolicy

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Evaluate estimates the mean reward of the target policy that samples are of, on the decisions of the log. It takes
// time in proportion to the decisions times the actions, and draws nothing: the same samples have the same Estimate.
//
// Where the log does not allow an estimate with an interval, the error wraps [ErrNoOverlap], [ErrMeanWeight] or
// [ErrTooFew], and says what to do. It wraps [ErrNoModel] where the estimator needs predictions that samples lack.
// Other errors are of settings, and of fewer than two samples.
func Evaluate(samples []Sample, e Estimator, o Options) (Estimate, error) {
	o = o.withDefaults()
	v, err := examine(samples, e, o)
	if err != nil {
		return Estimate{}, err
	}
	return v.estimate(samples, e, o)
}

// examine checks all but the size.
func examine(samples []Sample, e Estimator, o Options) (*evidence, error) {
	if err := faults.Value("the estimator", e); err != nil {
		return nil, err
	}
	if err := errors.Join(e.validate(), o.validate()); err != nil {
		return nil, err
	}
	if len(samples) < 2 {
		return nil, fmt.Errorf("%w: got %d, and a spread needs two", ErrTooFew, len(samples))
	}
	for i := range samples {
		if samples[i].logged == nil {
			return nil, fmt.Errorf("decision %d is a zero Sample: make it with NewSample", i)
		}
	}
	v, err := newEvidence(samples, e)
	if err != nil {
		return nil, err
	}
	if err := v.checkSupport(o.Unsupported); err != nil {
		return nil, err
	}
	return v, v.checkMeanWeight()
}

// estimate makes the Estimate of what was examined.
func (v *evidence) estimate(samples []Sample, e Estimator, o Options) (Estimate, error) {
	value, stdErr := meanOf(v.terms)
	form := shapeOf(v.base, v.residual, v.moments)
	form.freedom = min(form.freedom, momentsOf(v.terms, floats.Norm(v.terms, math.Inf(1))).freedom(len(v.terms)))
	out := Estimate{Estimator: e.String(), Value: value, StdErr: stdErr, Level: o.Level, Decisions: len(samples),
		Freedom: form.freedom, Unsupported: v.unsupported, Blind: stat.Mean(v.blind, nil)}
	out.describe(v.weights)
	var err error
	if b := o.Bernstein; b != nil {
		out.Lower, out.Upper, err = b.interval(samples, v, e, o.Level)
	} else if err = checkFreedom(stdErr, form.freedom, o.Least); err == nil {
		out.Lower, out.Upper = hall(value, stdErr, form, o.Level)
	}
	if err == nil {
		err = checkFinite(out.Upper - out.Lower)
	}
	if err != nil {
		return Estimate{}, err
	}
	return out, nil
}

func checkFinite(width float64) error {
	if !finite(width) {
		return errors.New("the rewards are too large for double precision: rescale them")
	}
	return nil
}

// describe sets what is known of the weights.
func (e *Estimate) describe(weights []float64) {
	e.MeanWeight, e.LargestWeight = stat.Mean(weights, nil), floats.Max(weights)
	if e.LargestWeight == 0 {
		return
	}
	var sum, squares float64
	for _, w := range weights {
		w /= e.LargestWeight // so that no square is too large
		sum += w
		squares += w * w
	}
	e.EffectiveSize, e.LargestShare = sum*sum/squares, 1/sum
}
