package offpolicy

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Difference is what two target policies differ by on the same log.
type Difference struct {
	A Estimate `json:"a"`
	B Estimate `json:"b"`

	Value   float64 `json:"value"` // of A minus that of B
	StdErr  float64 `json:"standard_error"`
	Lower   float64 `json:"lower"` // of the interval of Value
	Upper   float64 `json:"upper"`
	Level   float64 `json:"level"`   // of the interval
	Freedom float64 `json:"freedom"` // of StdErr, as in Estimate
}

// String is the difference with its interval.
func (d Difference) String() string {
	return fmt.Sprintf("%.4g [%.4g, %.4g]", d.Value, d.Lower, d.Upper)
}

// Compare estimates by how much the mean reward of target policy A exceeds that of B. a and b have the same decisions of
// one log, in the same order: the same actions, rewards, logged probabilities and predictions. The difference is taken
// decision by decision, so that what both policies have in common cancels: the interval is shorter than those of A and B
// together. Two policies that are the same differ by exactly 0.
//
// The errors are those of [Evaluate] for either policy, and ErrTooFew where too few decisions tell the policies apart.
func Compare(a, b []Sample, e Estimator, o Options) (Difference, error) {
	o = o.withDefaults()
	if err := checkPairs(a, b); err != nil {
		return Difference{}, err
	}
	d := Difference{Level: o.Level}
	va, err := examine(a, e, o)
	if err == nil {
		d.A, err = va.estimate(a, e, o)
	}
	if err != nil {
		return Difference{}, fmt.Errorf("policy A: %w", err)
	}
	vb, err := examine(b, e, o)
	if err == nil {
		d.B, err = vb.estimate(b, e, o)
	}
	if err != nil {
		return Difference{}, fmt.Errorf("policy B: %w", err)
	}
	if err := d.subtract(a, b, va, vb, e, o); err != nil {
		return Difference{}, fmt.Errorf("the difference: %w", err)
	}
	return d, nil
}

// checkPairs reports samples that are not of the same decisions.
func checkPairs(a, b []Sample) error {
	if len(a) != len(b) {
		return fmt.Errorf("A has %d samples and B %d: want those of the same decisions", len(a), len(b))
	}
	for i := range a {
		x, y := &a[i], &b[i]
		if x.action != y.action || x.reward != y.reward || x.modelled != y.modelled || x.predicted != y.predicted ||
			!slices.Equal(x.logged, y.logged) {
			return fmt.Errorf("samples %d of A and B are not of the same decision: want the same action, reward, "+
				"logged probabilities and predictions, in the same order", i)
		}
	}
	return nil
}

// subtract sets the difference. Its terms are base + (weight of A - weight of B) residual with the residual of A: the
// base has what else there is.
func (d *Difference) subtract(a, b []Sample, va, vb *evidence, e Estimator, o Options) error {
	n := len(a)
	terms, base := make([]float64, n), make([]float64, n)
	var all powers
	for i := range a {
		terms[i] = va.terms[i] - vb.terms[i]
		base[i] = va.base[i] - vb.base[i] + vb.weights[i]*(va.residual[i]-vb.residual[i])
		for x, w := range a[i].weights {
			all.add(a[i].logged[x], e.cut(w)-e.cut(b[i].weights[x]))
		}
	}
	d.Value, d.StdErr = meanOf(terms)
	form := shapeOf(base, va.residual, all.moments(n, 0))
	d.Freedom = form.freedom
	switch same := all[1] == 0 && floats.Norm(terms, 1) == 0; {
	case same:
		d.Freedom = float64(n - 1)
		return nil
	case o.Bernstein != nil:
		d.Lower, d.Upper = o.Bernstein.difference(terms, va, vb, e.(bounded), o.Level)
	default:
		if err := checkFreedom(d.StdErr, form.freedom, o.Least); err != nil {
			return err
		}
		d.Lower, d.Upper = hall(d.Value, d.StdErr, form, o.Level)
	}
	return checkFinite(d.Upper - d.Lower)
}
