package offpolicy

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// interval returns Hall's interval of a mean ("On the removal of skewness by transformation", 1992). It contains the
// values for which the transformed Student's statistic g(T), T = (mean - value) / standard error, lies between
// quantiles, where
//
//	g(T) = T + s T^2 / 3 + s^2 T^3 / 27 + s / 6
//
// has almost no skewness and s is the skewness of the mean. The interval is close to the bootstrap of T, without random
// draws. The quantiles are Student's with [Estimate].Freedom degrees of freedom (Satterthwaite 1946). The moments of
// the weights are exact, so that s and the freedom take account of heavy weights that do not occur in the log.
func (v *evidence) interval(level float64) (lower, upper float64) {
	q := distuv.StudentsT{Sigma: 1, Nu: v.freedom}.Quantile((1 + level) / 2)
	return v.value - v.stdErr*unskewed(q, v.skewness), v.value - v.stdErr*unskewed(-q, v.skewness)
}

// unskewed returns the inverse of Hall's g at x, for a skewness s.
func unskewed(x, s float64) float64 {
	if math.Abs(s) < 1e-7 { // the formula loses more digits than the correction has
		return x
	}
	return 3 / s * (math.Cbrt(1+s*(x-s/6)) - 1)
}
