package offpolicy

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Bernstein asks for an empirical Bernstein interval (Maurer and Pontil 2009, theorem 4). It contains the true value at
// least as often as its level says, for any number of independent decisions. (The other intervals need many decisions.)
// It is wide: usually two to ten times as wide as Hall's. It needs bounds that hold for all possible decisions, also
// for decisions that are not in the log.
//
// The rewards of the part of the target that the estimator leaves out, [Estimate].Blind, may lie anywhere between the
// bounds. So the interval contains the value of the target even if the estimate is biased (Bottou and others 2013,
// section 5.3). Therefore IPS.Clip shortens the interval if it cuts off little, or if there are few decisions. SNIPS
// has no such interval, because it is not a mean.
type Bernstein struct {
	Low, High float64 // smallest and largest reward that can occur
	// MaxWeight is the largest weight that can occur. If the log takes each of K actions with probability at least p,
	// it is 1/p; agents guarantee p = Floor/K. It may be 0 if the estimator has a bound.
	MaxWeight float64
}

func (b Bernstein) validate() error {
	if !finite(b.Low) || !finite(b.High) || b.Low >= b.High {
		return fmt.Errorf("Bernstein: rewards from %v to %v: want finite bounds, Low below High", b.Low, b.High)
	}
	return faults.NotNegative("Bernstein.MaxWeight", b.MaxWeight)
}

// bounded is implemented by estimators that are means of bounded terms.
type bounded interface {
	Estimator
	// terms returns bounds of base + cut(w) residual.
	terms(Bernstein) (from, to float64)
	// rest returns bounds of a decision's contribution to the value, per unit of the target's probability left out.
	rest(Bernstein) (from, to float64)
}

// most returns the largest weight that an estimator can have. own is the estimator's own bound; 0 means no bound.
func (b Bernstein) most(own float64) float64 {
	if own == 0 || b.MaxWeight > 0 && b.MaxWeight < own {
		return b.MaxWeight
	}
	return own
}

// corrected returns bounds of terms that correct a model whose predictions are between Low and High.
func (b Bernstein) corrected(most float64) (from, to float64) {
	width := most * (b.High - b.Low)
	return b.Low - width, b.High + width
}

// estimator returns e as a bounded estimator, or an error if it has no bounds.
func (b Bernstein) estimator(e Estimator) (bounded, error) {
	with, ok := e.(bounded)
	if !ok {
		return nil, fmt.Errorf("%v has no Bernstein interval, because it is not a mean of bounded terms: use IPS, DoublyRobust or "+
			"Switch, or another Interval", e)
	}
	if from, to := with.terms(b); b.MaxWeight == 0 && !cuts(e, math.Inf(1)) || !finite(to-from) {
		return nil, fmt.Errorf("Bernstein.MaxWeight is %v: want the largest weight that can occur, one over the smallest "+
			"probability that the log gives an action, or a bound of the estimator such as IPS.Clip", b.MaxWeight)
	}
	return with, nil
}

// check reports a decision outside the bounds.
func (b Bernstein) check(i int, s *Sample, e Estimator) error {
	_, alone := e.(IPS)                                       // without a reward model
	slack := roundings * (math.Abs(b.Low) + math.Abs(b.High)) // because probabilities do not sum to 1 exactly
	within := func(x float64) bool { return b.Low-slack <= x && x <= b.High+slack }
	switch {
	case !within(s.reward):
		return fmt.Errorf("decision %d has reward %v, outside the Bernstein bounds %v and %v", i, s.reward, b.Low, b.High)
	case s.partial && (b.MaxWeight == 0 || cuts(e, b.MaxWeight)):
		return fmt.Errorf("decision %d is partial, and Bernstein cannot tell what %v cuts off it: use NewSample, or set "+
			"Bernstein.MaxWeight to at most where it cuts", i, e)
	case !alone && !(within(s.predicted) && within(s.expected)):
		return fmt.Errorf("the predictions for decision %d are outside the Bernstein bounds %v and %v: clip them first", i,
			b.Low, b.High)
	}
	for a, w := range s.weights {
		if b.MaxWeight > 0 && w > b.MaxWeight*(1+roundings) {
			return fmt.Errorf("decision %d gives action %d a weight of %v, above Bernstein.MaxWeight, %v", i, a, w,
				b.MaxWeight)
		}
	}
	return nil
}

// side returns one end of the interval of the mean of x, whose values lie between from and to: the lower end if sign is
// -1, the upper end if it is 1.
func (b Bernstein) side(x []float64, from, to, level, sign float64) float64 {
	n := float64(len(x))
	mean, variance := stat.MeanVariance(x, nil)
	log := math.Log(4 / (1 - level)) // ln(2/delta), where each side fails with probability delta = (1 - level) / 2
	return mean + sign*(math.Sqrt(2*variance*log/n)+7*(to-from)*log/(3*(n-1)))
}

func (Bernstein) asymptotic() bool { return false }

func (b Bernstein) interval(v *evidence, level float64) (lower, upper float64, err error) {
	with, err := b.estimator(v.estimator)
	if err != nil {
		return 0, 0, err
	}
	for i := range v.samples {
		if err := b.check(i, &v.samples[i], with); err != nil {
			return 0, 0, err
		}
	}
	from, to := with.terms(b)
	least, greatest := with.rest(b)
	x := make([]float64, len(v.terms))
	floats.AddScaledTo(x, v.terms, least, v.blind)
	lower = b.side(x, from+min(0, least), to+max(0, least), level, -1)
	floats.AddScaledTo(x, v.terms, greatest, v.blind)
	upper = b.side(x, from+min(0, greatest), to+max(0, greatest), level, 1)
	return b.clamp(lower), b.clamp(upper), nil
}

// clamp limits an end of an interval to the bounds of rewards.
func (b Bernstein) clamp(x float64) float64 { return max(b.Low, min(x, b.High)) }
