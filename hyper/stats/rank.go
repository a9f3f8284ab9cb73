package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// RankCorrelation returns Spearman's rank correlation of pairs of numbers. It is NaN for fewer than two pairs.
func RankCorrelation(x, y []float64) float64 {
	if len(x) < 2 {
		return math.NaN()
	}
	return stat.Correlation(ranks(x), ranks(y), nil)
}

// ranks returns the rank of each number among all, from 1. Equal numbers share the mean of their ranks.
func ranks(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		for _, w := range x {
			switch {
			case w < v:
				out[i]++
			case w == v:
				out[i] += 0.5
			}
		}
		out[i] += 0.5
	}
	return out
}
