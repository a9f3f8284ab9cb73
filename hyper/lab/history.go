package lab

import (
	"maps"
	"math"
	"slices"
)

// Counted is the regret of the run up to the row as every statistic of this package counts it: Regret, or +Inf once the
// run has diverged.
//
// That is the one rule about runs that diverge, whose predictions are no longer finite: such a run counts as worse than
// every other, and is left out nowhere. So, from the period on at which a run diverges:
//   - The mean regret of its entry is infinite, and so is the upper end of the mean's interval. The lower end is that
//     of the other runs.
//   - The median and the quartiles rank runs, with those that diverged last. They are finite unless too many did.
//   - The run counts as one that failed.
//   - Another entry's regret is compared with an infinite one: a difference or ratio with it is infinite, or 0 for the
//     other side. An interval's other end remains that of what is finite. A claim "A is below B" is not reproduced
//     when a run of A diverged. When runs of B alone did, it is reproduced only if the interval is below the bound
//     too: one lucky divergence of B proves nothing.
//   - A setting performs well only if no run of it diverged.
//
// Every table, figure and verdict says how many runs diverged.
func (r Row) Counted() float64 {
	if r.Diverged > 0 || math.IsNaN(float64(r.Regret)) || math.IsInf(float64(r.Regret), 0) {
		return math.Inf(1)
	}
	return float64(r.Regret)
}

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

// at returns the regret up to a period of the runs with these seeds, as [Row.Counted] counts it.
func (h history) at(period int, seeds []uint64) []float64 {
	out := make([]float64, len(seeds))
	for i, seed := range seeds {
		out[i] = h[seed][period].Counted()
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

// infinite counts the runs that diverged among regrets that [Row.Counted] counts.
func infinite(regrets []float64) (n int) {
	for _, x := range regrets {
		if math.IsInf(x, 0) {
			n++
		}
	}
	return n
}
