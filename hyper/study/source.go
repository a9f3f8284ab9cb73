package study

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Source identifies the runs of an agent in an archive.
type Source struct {
	Folder string // folder in the archive
	// Side is the agent, with settings that distinguish its entry in the folder from other entries of the agent.
	Side
	Periods int
	Runs    int // number of runs that are needed
}

// runs holds the results of an agent's runs.
type runs struct {
	regret   map[uint64]float64 // cumulative regret at the last period, by seed
	diverged int                // number of runs that diverged
}

// at returns the regrets of the runs with some seeds.
func (r runs) at(seeds []uint64) []float64 {
	out := make([]float64, len(seeds))
	for i, seed := range seeds {
		out[i] = r.regret[seed]
	}
	return out
}

// missing is the error about runs that the archive does not have yet.
type missing string

func (m missing) Error() string { return string(m) }

// runs reads the runs of a source. If there are more runs than needed, it takes those with the lowest seeds. If there
// are fewer, the error is missing.
func (a *Archive) runs(s Source) (runs, error) {
	h, rows, err := a.Study(s.Folder)
	if err != nil {
		return runs{}, err
	}
	entry, err := s.entry(h)
	if err != nil {
		return runs{}, err
	}
	last := map[uint64]lab.Row{}
	for _, r := range rows {
		if r.Entry == entry && r.Period == s.Periods {
			last[r.Seed] = r
		}
	}
	if len(last) < s.Runs {
		return runs{}, missing(fmt.Sprintf("%d of %d runs of agent %s are in %s", len(last), s.Runs, s.Agent, s.Folder))
	}
	out := runs{regret: map[uint64]float64{}}
	for _, seed := range slices.Sorted(maps.Keys(last))[:s.Runs] {
		r := last[seed]
		if out.regret[seed] = float64(r.Regret); math.IsNaN(float64(r.Regret)) || math.IsInf(float64(r.Regret), 0) {
			return runs{}, fmt.Errorf("%s of %s: the regret of seed %d is not a finite number", s.Agent, s.Folder, seed)
		}
		if r.Diverged > 0 {
			out.diverged++
		}
	}
	return out, nil
}

// entry returns the number of the one entry that the source identifies, or -1 if there is none.
func (s Source) entry(h lab.Header) (int, error) {
	found := -1
	for i, e := range h.Spec.Entries {
		values := catalog.Values(e.Setting)
		differs := func(set string) bool {
			key, value, _ := strings.Cut(set, "=")
			return fmt.Sprint(values[key]) != value
		}
		if e.Agent != s.Agent || slices.ContainsFunc(s.Sets, differs) {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("%s has several entries of agent %s with %v: add settings that identify "+
				"one", s.Folder, s.Agent, s.Sets)
		}
		found = i
	}
	return found, nil
}

// Ratio compares two agents by the mean regret of x divided by the mean regret of y, paired by seed. The comparison is
// Missing if the archive lacks runs.
func (a *Archive) Ratio(text string, claimed Range, x, y Source) (Comparison, error) {
	c := Comparison{Text: text, Claimed: claimed, Periods: x.Periods}
	all, seeds, err := a.paired(&c, x, y)
	if all == nil {
		return c, err
	}
	c.Diverged = [2]int{all[0].diverged, all[1].diverged}
	one, other := all[0].at(seeds), all[1].at(seeds)
	c.test(stats.Ratio(one, other), stats.RatioOfRegrets(one, other))
	return c, nil
}

// Gap compares differences between four agents by the mean of (x - y) - (u - v), paired by seed. The comparison is
// Missing if the archive lacks runs.
func (a *Archive) Gap(text string, claimed Range, x, y, u, v Source) (Comparison, error) {
	c := Comparison{Text: text, Claimed: claimed, Periods: x.Periods}
	all, seeds, err := a.paired(&c, x, y, u, v)
	if all == nil {
		return c, err
	}
	c.Diverged = [2]int{all[0].diverged + all[2].diverged, all[1].diverged + all[3].diverged}
	difference := make([]float64, len(seeds))
	for i, s := range seeds {
		difference[i] = all[0].regret[s] - all[1].regret[s] - (all[2].regret[s] - all[3].regret[s])
	}
	c.Scale = float64(stats.MeanRegret(all[0].at(seeds)).Value)
	c.test(stats.Mean(difference), stats.MeanDifference(difference))
	return c, nil
}

// paired returns the runs of some sources, and the seeds that all of them have. If runs are missing, it returns no
// runs, and sets c.Missing.
func (a *Archive) paired(c *Comparison, sources ...Source) (all []runs, seeds []uint64, err error) {
	c.Estimate, c.Inside, c.Outside = stats.NoEstimate(), 1, 1
	for _, s := range sources {
		r, err := a.runs(s)
		if few, ok := errors.AsType[missing](err); ok {
			c.Missing = string(few)
			return nil, nil, nil
		} else if err != nil {
			return nil, nil, err
		}
		all = append(all, r)
	}
	seeds = slices.DeleteFunc(slices.Sorted(maps.Keys(all[0].regret)), func(seed uint64) bool {
		return slices.ContainsFunc(all[1:], func(r runs) bool { _, ok := r.regret[seed]; return !ok })
	})
	if asked := max(fewest(sources), 2); len(seeds) < asked {
		c.Missing = fmt.Sprintf("the agents have %d of %d seeds in common", len(seeds), asked)
		return nil, nil, nil
	}
	return all, seeds, nil
}

// fewest returns the smallest number of runs that a source asks for.
func fewest(sources []Source) int {
	return slices.MinFunc(sources, func(a, b Source) int { return cmp.Compare(a.Runs, b.Runs) }).Runs
}
