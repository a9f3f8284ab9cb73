package lab

import (
	"maps"
	"slices"
)

// history holds the rows of an entry by seed and period.
type history map[uint64]map[int]Row

func historyOf(rows []Row, entry int) history {
	h := history{}
	for _, r := range rows {
		if r.Entry != entry {
			continue
		}
		if h[r.Seed] == nil {
			h[r.Seed] = map[int]Row{}
		}
		h[r.Seed][r.Period] = r
	}
	return h
}

func (h history) seeds() []uint64 { return slices.Sorted(maps.Keys(h)) }

// periods returns what periods all runs with these seeds have, ascending.
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

// at returns the regret up to a period of the runs with these seeds.
func (h history) at(period int, seeds []uint64) []float64 {
	out := make([]float64, len(seeds))
	for i, seed := range seeds {
		out[i] = float64(h[seed][period].Regret)
	}
	return out
}

// common are the seeds that all histories have, and the periods that all of them have for these seeds.
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

// intersect returns what is in both, in the order of a.
func intersect[T comparable](a, b []T) []T {
	return slices.DeleteFunc(a, func(x T) bool { return !slices.Contains(b, x) })
}

// diverged is the number of the runs with these seeds that have diverged by a period.
func (h history) diverged(period int, seeds []uint64) (n int) {
	for _, seed := range seeds {
		if h[seed][period].Diverged > 0 {
			n++
		}
	}
	return n
}
