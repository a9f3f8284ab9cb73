package offpolicy

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// meanOf is the mean of terms, with its standard error: 0 where the terms differ by rounding alone.
func meanOf(terms []float64) (mean, stdErr float64) {
	scale := floats.Norm(terms, math.Inf(1))
	if scale == 0 {
		return 0, 0
	}
	scaled := make([]float64, len(terms)) // so that no square is too large
	floats.ScaleTo(scaled, 1/scale, terms)
	mean, deviation := stat.MeanStdDev(scaled, nil)
	if deviation < 1e-13*math.Abs(mean) {
		deviation = 0
	}
	return scale * mean, scale * stat.StdErr(deviation, float64(len(terms)))
}

// hall is Hall's interval (1992, section 2) of a mean: the values of it for which Student's statistic T, (mean - value) /
// stdErr, is mapped between quantiles by
//
//	g(T) = T + s T^2 / 3 + s^2 T^3 / 27 + s / 6
//
// which has hardly any skewness, where s is that of the mean. It is what a bootstrap of T gives, without drawing. The
// quantiles are Student's, with the freedom that the estimate of the variance has (Satterthwaite 1946).
func hall(mean, stdErr float64, s shape, level float64) (lower, upper float64) {
	q := distuv.StudentsT{Sigma: 1, Nu: s.freedom}.Quantile((1 + level) / 2)
	return mean - stdErr*inverse(q, s.skewness), mean - stdErr*inverse(-q, s.skewness)
}

// inverse is that of Hall's g for a skewness s.
func inverse(x, s float64) float64 {
	if math.Abs(s) < 1e-7 { // the formula loses digits, and the difference is below them
		return x
	}
	return 3 / s * (math.Cbrt(1+s*(x-s/6)) - 1)
}
