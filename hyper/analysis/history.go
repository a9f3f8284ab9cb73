package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/gonum/floats"

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

// byEntry returns the rows of each of n entries.
func byEntry(rows []lab.Row, n int) [][]lab.Row {
	out := make([][]lab.Row, n)
	for _, r := range rows {
		out[r.Entry] = append(out[r.Entry], r)
	}
	return out
}

// commonRuns holds the runs of some entries, with the seeds and the periods that the runs of all these entries have.
type commonRuns struct {
	entries []history
	seeds   []uint64 // in ascending order
	periods []int    // in ascending order
}

func commonRunsOf(rows []lab.Row, entries ...int) commonRuns {
	var c commonRuns
	numSeeds, numPeriods := map[uint64]int{}, map[int]int{}
	for _, entry := range entries {
		h := historyOf(rows, entry)
		c.entries = append(c.entries, h)
		for seed := range h {
			numSeeds[seed]++
		}
	}
	c.seeds = withCount(numSeeds, len(entries))
	for _, h := range c.entries {
		for _, seed := range c.seeds {
			for period := range h[seed] {
				numPeriods[period]++
			}
		}
	}
	c.periods = withCount(numPeriods, len(entries)*len(c.seeds))
	return c
}

// withCount returns the keys that have a count, in ascending order.
func withCount[K cmp.Ordered](counts map[K]int, count int) []K {
	maps.DeleteFunc(counts, func(_ K, n int) bool { return n != count })
	return slices.Sorted(maps.Keys(counts))
}

// check returns an error if there is no common seed or no common period.
func (c commonRuns) check() error {
	switch {
	case len(c.seeds) == 0:
		return fmt.Errorf("%w: the entries have no seed in common", ErrNoRows)
	case len(c.periods) == 0:
		return fmt.Errorf("%w: there are %d common seeds, but no period at which all their runs have rows; some "+
			"pieces of the study may have been exported at different periods: export them again", ErrNoRows, len(c.seeds))
	}
	return nil
}

func (c commonRuns) last() int { return c.periods[len(c.periods)-1] }

// regret returns the cumulative regret of each run of the i-th entry at a period.
func (c commonRuns) regret(i, period int) []float64 {
	out := make([]float64, len(c.seeds))
	for j, seed := range c.seeds {
		out[j] = float64(c.entries[i][seed][period].Regret)
	}
	return out
}

// regretSince returns the regret of each run of the i-th entry from the end of period from (0 is the start of the run)
// to the end of the last period.
func (c commonRuns) regretSince(i, from int) []float64 {
	out := c.regret(i, c.last())
	if from > 0 {
		floats.Sub(out, c.regret(i, from))
	}
	return out
}

// diverged returns the number of runs of the i-th entry that have diverged by a period.
func (c commonRuns) diverged(i, period int) (n int) {
	for _, seed := range c.seeds {
		if c.entries[i][seed][period].Diverged > 0 {
			n++
		}
	}
	return n
}
