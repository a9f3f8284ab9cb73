package offpolicy

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// evidence is what a log says of one target through an estimator. Slices have one number for each decision.
type evidence struct {
	base, residual []float64
	weights        []float64 // cut
	terms          []float64 // base + weights residual
	blind          []float64 // probability of the target that the estimator leaves out
	unsupported    float64   // mean probability of the target on what the log never takes

	moments moments // of a cut weight, over decisions and actions: exact
	sum     moments // of the sum of the cut weights of these decisions, over actions: exact
}

func newEvidence(samples []Sample, e Estimator) (*evidence, error) {
	n := len(samples)
	room := make([]float64, 5*n)
	take := func() (x []float64) { x, room = room[:n:n], room[n:]; return x }
	v := &evidence{base: take(), residual: take(), weights: take(), terms: take(), blind: take()}
	if err := e.parts(samples, v.base, v.residual); err != nil {
		return nil, err
	}
	var all powers
	for i := range samples {
		s := &samples[i]
		one, left := s.cut(e)
		floats.Add(all[:], one[:])
		v.sum = v.sum.plus(one.moments(1, 1))
		v.unsupported += s.unsupported / float64(n)
		v.weights[i], v.blind[i] = e.cut(s.weight()), s.unsupported+left
		v.terms[i] = v.base[i] + v.weights[i]*v.residual[i]
	}
	v.moments = all.moments(n, 1)
	return v, nil
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
		return fmt.Errorf("%w: the mean weight is %.4g, and with the right probabilities it is between %.4g and %.4g in "+
			"999 logs of 1,000; log the probabilities that the actions were drawn from, in the order of the actions",
			ErrMeanWeight, sum/n, lower/n, upper/n)
	}
	return nil
}

// checkSupport reports a target that takes too often what the log never takes.
func (v *evidence) checkSupport(most float64) error {
	if v.unsupported <= most {
		return nil
	}
	return fmt.Errorf("%w: %.3g of its probability is on them, above Options.Unsupported, %g; let the logging policy take "+
		"every action at times (agent.Config.Floor), or evaluate a target that takes only what the log may take",
		ErrNoOverlap, v.unsupported, most)
}

// checkFreedom reports a mean whose interval would not hold the truth as often as it should.
func checkFreedom(stdErr, freedom, least float64) error {
	const advice = "log more decisions, evaluate a target that is nearer to the logging policy, cut the largest weights " +
		"(IPS.Clip or Switch, which bias), or ask for an Options.Bernstein interval"
	switch {
	case stdErr == 0:
		return fmt.Errorf("%w: all terms are equal, which does not tell how far they may vary; %s", ErrTooFew, advice)
	case !(freedom >= least):
		return fmt.Errorf("%w: the standard error has %.3g degrees of freedom, and an interval needs %g "+
			"(Options.Least); %s", ErrTooFew, freedom, least, advice)
	}
	return nil
}
