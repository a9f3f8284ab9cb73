package lab

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Least is the least computation with which some settings perform well.
type Least struct {
	Entry       int      // the setting with it
	Computation Estimate // of a period, by the paper's formula
	Average     Estimate // regret per period, of Entry
	Runs        int

	seeds     []uint64
	resampled []float64 // Computation.Value of resamples of the seeds, infinite where no setting performs well
}

// ErrNoneBelow says that no setting has an average regret below its target with confidence.
var ErrNoneBelow = errors.New("no setting performs well")

// LeastComputation looks among some entries for the least computation that performs well: with an average regret below
// target with confidence, which is that the upper end of its interval is, see MeanRegret. A setting of which a run
// diverged does not, see [Row.Counted]. Only seeds and periods count that all these entries have: the average is over
// the periods up to the last common one.
//
// The interval of the computation is by the bootstrap: the same is asked of resamples of the seeds. It is a percentile
// of what these entries can say, and infinite above where too many resamples leave none that performs well.
func LeastComputation(h Header, rows []Row, entries []int, target func(*Setting) float64) (Least, error) {
	all, seeds, err := price(h, rows, entries, target)
	out := Least{Runs: len(seeds), seeds: seeds}
	if err != nil {
		return out, err
	}
	whole := make([]int, out.Runs)
	for i := range whole {
		whole[i] = i
	}
	at := cheapest(all, whole)
	if at < 0 {
		return out, fmt.Errorf("%w: none of %d settings of agent %s has an average regret below its target with "+
			"confidence (%d runs)", ErrNoneBelow, len(entries), h.Spec.Entries[entries[0]].Agent, out.Runs)
	}
	out.Entry, out.Average = entries[at], all[at].average(whole)
	out.resampled = resampledLeast(all, out.Runs)
	lower, upper := percentiles(out.resampled)
	out.Computation = Estimate{Value: Float(all[at].computation), Lower: Float(lower), Upper: Float(upper)}
	return out, nil
}

// Over is the ratio of the least computation to that of other settings on the same seeds, and a p-value of the
// hypothesis that this ratio is bound, against both sides, by the share of resamples on the other side. The error is
// ErrNotInStudy when they have others.
func (l Least) Over(other Least, bound float64) (ratio Estimate, p float64, err error) {
	if !slices.Equal(l.seeds, other.seeds) {
		return ratio, 0, fmt.Errorf("%w: the settings that are compared have %d and %d runs, whose seeds are not the same",
			ErrNotInStudy, l.Runs, other.Runs)
	}
	ratios := make([]float64, len(l.resampled))
	above, below := 1, 1
	for i, c := range l.resampled {
		ratios[i] = c / other.resampled[i]
		if math.IsInf(c, 1) { // also where neither performs well
			ratios[i] = c
		}
		if ratios[i] >= bound {
			above++
		}
		if ratios[i] <= bound {
			below++
		}
	}
	lower, upper := percentiles(ratios)
	ratio = Estimate{Value: l.Computation.Value / other.Computation.Value, Lower: Float(lower), Upper: Float(upper)}
	return ratio, min(1, 2*float64(min(above, below))/float64(len(ratios)+1)), nil
}

// priced is a setting with its computation and the average regret of its runs.
type priced struct {
	computation, target float64
	regret              []float64 // per period
}

// price returns the entries with their average regrets, up to the last period that all have reached, over the seeds
// that all have.
func price(h Header, rows []Row, entries []int, target func(*Setting) float64) (all []priced, seeds []uint64,
	err error) {
	runs := make([]history, len(entries))
	for i, n := range entries {
		runs[i] = historyOf(rows, n)
	}
	seeds, periods := common(runs...)
	if len(seeds) < 2 {
		return nil, seeds, fmt.Errorf("%w: the %d settings have %d seeds in common, and an interval needs two",
			ErrNoRows, len(entries), len(seeds))
	}
	if err := enough(seeds, periods); err != nil {
		return nil, seeds, fmt.Errorf("the %d settings of agent %s: %w", len(entries), h.Spec.Entries[entries[0]].Agent,
			err)
	}
	last := periods[len(periods)-1]
	for i, n := range entries {
		setting := h.Spec.Entries[n].Setting
		_, agent := setting.Build(h.Spec.Periods)
		regret := runs[i].at(last, seeds)
		for j := range regret {
			regret[j] /= float64(last)
		}
		all = append(all, priced{agent.Computation(), target(setting), regret})
	}
	return all, seeds, nil
}

// average is that of some runs, by their places.
func (p priced) average(runs []int) Estimate {
	some := make([]float64, len(runs))
	for i, r := range runs {
		some[i] = p.regret[r]
	}
	return MeanRegret(some)
}

// cheapest is the place of the setting with the least computation that performs well in some runs, or -1.
func cheapest(all []priced, runs []int) int {
	best := -1
	for i, p := range all {
		if best >= 0 && all[best].computation <= p.computation {
			continue
		}
		if float64(p.average(runs).Upper) < p.target {
			best = i
		}
	}
	return best
}

// resampledLeast returns the least computation in each of 20,000 resamples of the runs. Its seed is fixed: equal results
// have equal intervals, and settings with the same seeds the same resamples.
func resampledLeast(all []priced, runs int) []float64 {
	random := rand.New(rand.NewPCG(1, 2))
	out := make([]float64, 20_000)
	some := make([]int, runs)
	for r := range out {
		for i := range some {
			some[i] = random.IntN(runs)
		}
		out[r] = math.Inf(1)
		if at := cheapest(all, some); at >= 0 {
			out[r] = all[at].computation
		}
	}
	return out
}

// percentiles are those of an interval at Level: values of x themselves, which may be infinite.
func percentiles(x []float64) (lower, upper float64) {
	sorted := slices.Sorted(slices.Values(x))
	at := func(q float64) float64 { return sorted[int(math.Round(q*float64(len(sorted)-1)))] }
	return at((1 - Level) / 2), at((1 + Level) / 2)
}
