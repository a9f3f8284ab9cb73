package lab

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Level is the coverage of all intervals of this package.
const Level = 0.95

// Estimate is a statistic with an interval at Level. Bounds are NaN where there are too few runs, and infinite where a
// run diverged, see [Row.Counted].
type Estimate struct {
	Value Float `json:"value"`
	Lower Float `json:"lower"`
	Upper Float `json:"upper"`
}

// String is the estimate with its interval.
func (e Estimate) String() string {
	return fmt.Sprintf("%.4g [%.4g, %.4g]", float64(e.Value), float64(e.Lower), float64(e.Upper))
}

// Scaled is the estimate of a positive multiple of the statistic.
func (e Estimate) Scaled(factor float64) Estimate {
	f := Float(factor)
	return Estimate{f * e.Value, f * e.Lower, f * e.Upper}
}

// MeanRegret is the mean of regrets, which are not negative, with its interval: Student's interval of the logarithm of
// the mean, whose standard error is that of the mean over the mean (the delta method). So the interval has no end below
// zero. Its ends are the mean times and over exp(t s / mean), with Student's t and the standard error s; a mean of zero
// has the interval [0, 0].
//
// Where regrets are heavy-tailed it covers the mean more often than Student's interval of the mean, and than
// percentiles of a bootstrap, at about the same length; TestCoverageOfMeanRegret measures it. A bootstrap of the t
// statistic covers more, but its intervals have no bound that is of use where few runs fail.
//
// With a regret that is infinite, see [Row.Counted], the mean and the upper end are. The lower end is that of the
// others.
func MeanRegret(regrets []float64) Estimate {
	sound := finiteOnes(regrets)
	mean, se := meanSE(sound)
	lower, upper := meanBounds(mean, se, len(sound))
	switch {
	case len(sound) == len(regrets):
	case len(sound) == 0:
		mean, lower, upper = math.Inf(1), math.Inf(1), math.Inf(1)
	default:
		mean, upper = math.Inf(1), math.Inf(1)
	}
	return Estimate{Float(mean), Float(lower), Float(upper)}
}

// meanBounds are the ends of the interval of MeanRegret, of n regrets with a mean and its standard error.
func meanBounds(mean, se float64, n int) (lower, upper float64) {
	half := halfWidth(se, n)
	if mean > 0 {
		factor := math.Exp(half / mean)
		return mean / factor, mean * factor
	}
	return mean - half, mean + half // zero, unless the numbers are no regrets
}

// meanDifference is the mean of differences of regrets with Student's interval, which is symmetric. With a difference
// of +Inf, which is of a pair whose first run diverged, the mean and the upper end are infinite; with one of -Inf,
// whose second run alone diverged, the lower end is, and the mean unless the first runs diverged too. The other end is
// that of the pairs that did not diverge.
func meanDifference(differences []float64) Estimate {
	sound := finiteOnes(differences)
	mean, se := meanSE(sound)
	half := halfWidth(se, len(sound))
	e := Estimate{Float(mean), Float(mean - half), Float(mean + half)}
	up, down := slices.Contains(differences, math.Inf(1)), slices.Contains(differences, math.Inf(-1))
	if down {
		e.Value, e.Lower = Float(math.Inf(-1)), Float(math.Inf(-1))
	}
	if up {
		e.Value, e.Upper = Float(math.Inf(1)), Float(math.Inf(1))
	}
	if len(sound) == 0 && up != down { // all pairs diverged in the same way
		e.Lower, e.Upper = e.Value, e.Value
	}
	return e
}

// finiteOnes leaves the finite numbers.
func finiteOnes(x []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(x), func(v float64) bool { return math.IsInf(v, 0) || math.IsNaN(v) })
}

// bootstrap returns a statistic of x with percentiles over 2000 resamples. Its seed is fixed.
func bootstrap(x []float64, statistic func([]float64) float64) Estimate {
	if len(x) < 2 {
		return Estimate{Float(statistic(x)), Float(math.NaN()), Float(math.NaN())}
	}
	random := rand.New(rand.NewPCG(1, 2))
	draws, sample := make([]float64, 2000), make([]float64, len(x))
	for r := range draws {
		for i := range sample {
			sample[i] = x[random.IntN(len(x))]
		}
		draws[r] = statistic(sample)
	}
	return Estimate{Float(statistic(x)), Float(quantile(draws, (1-Level)/2)), Float(quantile(draws, (1+Level)/2))}
}

// ratioOfMeans is the mean of a over that of b, with percentiles over 2000 resamples of the pairs. Its seed is fixed.
// An infinite mean of a makes the ratio infinite, whatever that of b is.
func ratioOfMeans(a, b []float64) Estimate {
	ratio := func(sumA, sumB float64) float64 {
		if math.IsInf(sumA, 1) {
			return sumA
		}
		return sumA / sumB
	}
	value := ratio(stat.Mean(a, nil), stat.Mean(b, nil))
	if len(a) < 2 {
		return Estimate{Float(value), Float(math.NaN()), Float(math.NaN())}
	}
	random := rand.New(rand.NewPCG(1, 2))
	ratios := make([]float64, 2000)
	for r := range ratios {
		var sumA, sumB float64
		for range a {
			i := random.IntN(len(a))
			sumA, sumB = sumA+a[i], sumB+b[i]
		}
		ratios[r] = ratio(sumA, sumB)
	}
	return Estimate{Float(value), Float(quantile(ratios, (1-Level)/2)), Float(quantile(ratios, (1+Level)/2))}
}

func meanSE(x []float64) (mean, se float64) {
	if len(x) == 0 {
		return math.NaN(), math.NaN()
	}
	mean, sd := stat.MeanStdDev(x, nil) // sd is NaN for one number
	return mean, stat.StdErr(sd, float64(len(x)))
}

// halfWidth is that of Student's interval for a mean of n numbers.
func halfWidth(se float64, n int) float64 {
	if n < 2 {
		return math.NaN()
	}
	return se * distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile((1+Level)/2)
}

// quantile interpolates linearly between order statistics (Hyndman and Fan's type 7, the default of R and NumPy, which
// gonum/stat lacks): the median of an even number is the mean of the middle two.
func quantile(x []float64, p float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	x = slices.Sorted(slices.Values(x))
	at := p * float64(len(x)-1)
	below, above := x[int(math.Floor(at))], x[int(math.Ceil(at))]
	if below == above {
		return below // also when both are infinite
	}
	return below + (at-math.Floor(at))*(above-below)
}
