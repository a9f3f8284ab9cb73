package offpolicy

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is a way to an interval for an estimate: [Hall], [Bootstrap] or [Bernstein]. They are values without state,
// and safe for concurrent use.
type Interval interface {
	// validate reports a setting that is wrong.
	validate() error
	// asymptotic is whether it needs Options.Least degrees of freedom.
	asymptotic() bool
	// interval is that of what was examined.
	interval(v *evidence, level float64) (lower, upper float64, err error)
}

// Hall is Hall's interval of a mean ("On the removal of skewness by transformation", 1992): the values of it for which
// Student's statistic T, (mean - value) / standard error, is mapped between quantiles by
//
//	g(T) = T + s T^2 / 3 + s^2 T^3 / 27 + s / 6
//
// which has hardly any skewness, where s is that of the mean. It is what the bootstrap of T gives, without drawing. The
// quantiles are Student's, with [Estimate].Freedom (Satterthwaite 1946). The moments of the weights are exact: s and
// the freedom know of heavy weights that the log does not have.
type Hall struct{}

func (Hall) validate() error { return nil }

func (Hall) asymptotic() bool { return true }

func (Hall) interval(v *evidence, level float64) (lower, upper float64, err error) {
	q := distuv.StudentsT{Sigma: 1, Nu: v.freedom}.Quantile((1 + level) / 2)
	return v.value - v.stdErr*unskewed(q, v.skewness), v.value - v.stdErr*unskewed(-q, v.skewness), nil
}

// unskewed is the inverse of Hall's g for a skewness s.
func unskewed(x, s float64) float64 {
	if math.Abs(s) < 1e-7 { // the formula loses digits, and the difference is below them
		return x
	}
	return 3 / s * (math.Cbrt(1+s*(x-s/6)) - 1)
}
