package offpolicy

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// evidence holds the terms of an estimator for one target on a log. Slices have one number for each decision.
type evidence struct {
	base, residual []float64
	weights        []float64 // cut weights
	terms          []float64 // base + weights residual
	blind          []float64 // probability of the target that the estimator leaves out
	unsupported    float64   // mean probability of the target for actions that the log never takes
	sum            moments   // moments of the sum of the cut weights; exact unless samples are partial

	value, stdErr     float64 // mean of terms and its standard error
	freedom, skewness float64 // degrees of freedom as in Estimate, and skewness of the mean
}

func newEvidence(samples []Sample, e Estimator) (*evidence, error) {
	n := len(samples)
	v := &evidence{base: make([]float64, n), residual: make([]float64, n),
		weights: make([]float64, n), terms: make([]float64, n), blind: make([]float64, n)}
	if err := e.parts(samples, v.base, v.residual); err != nil {
		return nil, err
	}
	var all powers
	for i := range samples {
		s := &samples[i]
		one, left := s.cut(e)
		floats.Add(all[:], one[:])
		v.sum = v.sum.plus(s.sum(one))
		v.unsupported += s.unsupported / float64(n)
		v.weights[i], v.blind[i] = e.cut(s.weight()), s.unsupported+left
		v.terms[i] = v.base[i] + v.weights[i]*v.residual[i]
	}
	v.value, v.stdErr = meanOf(v.terms)
	v.shape(all.moments(n, 1))
	return v, nil
}

// shape sets freedom and skewness, which describe how far the mean of terms is from normal with a known variance. It
// assumes that base, weight and residual are independent. The moments of the weights are exact, because the log may
// lack the few heavy weights that matter. The moments of base and residual come from the log.
func (v *evidence) shape(weights moments) {
	scale := max(floats.Norm(v.base, math.Inf(1)), floats.Norm(v.residual, math.Inf(1)))
	if scale == 0 {
		return
	}
	n := len(v.terms)
	term := momentsOf(v.base, scale).plus(weights.times(momentsOf(v.residual, scale)))
	seen := momentsOf(v.terms, floats.Norm(v.terms, math.Inf(1)))
	v.freedom = min(term.freedom(n), seen.freedom(n))
	if v.skewness = term.third / math.Pow(term.second, 1.5) / math.Sqrt(float64(n)); !finite(v.skewness) {
		v.freedom, v.skewness = 0, 0
	}
}

// meanOf returns the mean of terms with its standard error. The standard error is 0 if the terms differ only by
// rounding.
func meanOf(terms []float64) (mean, stdErr float64) {
	mean, deviation := stat.MeanStdDev(terms, nil)
	if deviation < 1e-13*math.Abs(mean) {
		return mean, 0
	}
	return mean, stat.StdErr(deviation, float64(len(terms)))
}
