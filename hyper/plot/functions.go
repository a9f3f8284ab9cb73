package plot

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Functions returns a series for functions that were drawn at random, f [functions][len(x)], for example by
// agent.Sample: their mean at each x with a band of two standard deviations, and the first shown of them as thin lines.
func Functions(label string, x []float64, f [][]float32, shown int) Series {
	s := Series{Label: label, X: x}
	mean, sd := momentsOf(f)
	for i, m := range mean {
		s.Y, s.Lower, s.Upper = append(s.Y, m), append(s.Lower, m-2*sd[i]), append(s.Upper, m+2*sd[i])
	}
	for _, values := range f[:min(shown, len(f))] {
		sample := make([]float64, len(x))
		for i, v := range values {
			sample[i] = float64(v)
		}
		s.Samples = append(s.Samples, sample)
	}
	return s
}

// momentsOf returns the mean and the standard deviation at each x of functions f [functions][x], or nil if there are no
// functions.
func momentsOf(f [][]float32) (means, sds []float64) {
	if len(f) == 0 {
		return nil, nil
	}
	column := make([]float64, len(f))
	for i := range f[0] {
		for j, values := range f {
			column[j] = float64(values[i])
		}
		mean, sd := stat.PopMeanStdDev(column, nil)
		means, sds = append(means, mean), append(sds, sd)
	}
	return means, sds
}

// AddSpread adds a point at x: the mean of values, with a band from their 5% quantile to their 95% quantile. Without
// values it adds a gap.
func (s *Series) AddSpread(x float64, values []float64) {
	mean, lower, upper := math.NaN(), math.NaN(), math.NaN()
	if len(values) > 0 {
		sorted := slices.Sorted(slices.Values(values))
		mean, lower, upper = stat.Mean(sorted, nil), stat.Quantile(0.05, stat.Empirical, sorted, nil),
			stat.Quantile(0.95, stat.Empirical, sorted, nil)
	}
	s.X, s.Y, s.Lower, s.Upper = append(s.X, x), append(s.Y, mean), append(s.Lower, lower), append(s.Upper, upper)
}
