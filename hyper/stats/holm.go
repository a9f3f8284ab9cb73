package stats

import (
	"cmp"
	"slices"
)

// Holm returns p-values that are corrected for being read together (Holm 1979): the probability that at least one
// corrected p-value below a level belongs to a true hypothesis is at most the level. factors has the number by which
// the method multiplies each p-value: the number of p-values that are not smaller. A corrected p-value is also at least
// the corrected p-value of every smaller p-value.
func Holm(p []float64) (corrected, factors []float64) {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	corrected, factors = make([]float64, len(p)), make([]float64, len(p))
	least := 0.0
	for rank, i := range order {
		factors[i] = float64(len(p) - rank)
		if rank > 0 && p[i] == p[order[rank-1]] {
			factors[i] = factors[order[rank-1]]
		}
		least = max(least, min(1, p[i]*factors[i]))
		corrected[i] = least
	}
	return corrected, factors
}
