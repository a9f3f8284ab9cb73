package analysis

import (
	"maps"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// history maps seed and period to the row of an entry.
type history map[uint64]map[int]lab.Row

func historyOf(rows []lab.Row, entry int) history {
	h := history{}
	for _, r := range rows {
		if r.Entry != entry {
			continue
		}
		if h[r.Seed] == nil {
			h[r.Seed] = map[int]lab.Row{}
		}
		h[r.Seed][r.Period] = r
	}
	return h
}

func (h history) seeds() []uint64 { return slices.Sorted(maps.Keys(h)) }

// periods returns the periods that all runs with these seeds have, in ascending order.
func (h history) periods(seeds []uint64) []int {
	count := map[int]int{}
	for _, seed := range seeds {
		for period := range h[seed] {
			count[period]++
		}
	}
	maps.DeleteFunc(count, func(_, n int) bool { return n < len(seeds) })
	return slices.Sorted(maps.Keys(count))
}

// at returns the cumulative regret of the runs with these seeds at a period.
func (h history) at(period int, seeds []uint64) []float64 {
	out := make([]float64, len(seeds))
	for i, seed := range seeds {
		out[i] = float64(h[seed][period].Regret)
	}
	return out
}

// common returns the seeds that all histories have, and the periods that all of them have for these seeds.
func common(all ...history) (seeds []uint64, periods []int) {
	for i, h := range all {
		if i == 0 {
			seeds = h.seeds()
		}
		seeds = intersect(seeds, h.seeds())
	}
	for i, h := range all {
		if i == 0 {
			periods = h.periods(seeds)
		}
		periods = intersect(periods, h.periods(seeds))
	}
	return seeds, periods
}

// intersect returns the elements that are in both slices, in the order of a. It overwrites a.
func intersect[T comparable](a, b []T) []T {
	return slices.DeleteFunc(a, func(x T) bool { return !slices.Contains(b, x) })
}

// diverged returns the number of runs, among those with these seeds, that have diverged by a period.
func (h history) diverged(period int, seeds []uint64) (n int) {
	for _, seed := range seeds {
		if h[seed][period].Diverged > 0 {
			n++
		}
	}
	return n
}
