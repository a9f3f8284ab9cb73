package stats

import (
	"cmp"
	"slices"
)

// Holm returns p-values that are corrected for being read together (Holm 1979): the probability that at least one
// corrected p-value below a level belongs to a true hypothesis is at most the level.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	out, least := make([]float64, len(p)), 0.0
	for rank, i := range order {
		least = max(least, min(1, p[i]*float64(len(p)-rank)))
		out[i] = least
	}
	return out
}
