package lab

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Least is the least computation with which some settings perform well.
type Least struct {
	Entry       int      // the setting with it
	Computation Estimate // of a period, by the paper's formula
	Average     Estimate // regret per period, of Entry
	Runs        int

	seeds []uint64
	all   []priced
}

// ErrNoneBelow says that no setting has an average regret below its target with confidence.
var ErrNoneBelow = errors.New("no setting performs well")

// LeastComputation looks among some entries for the least computation that performs well: with an average regret below
// target with confidence, which is that the upper end of its interval is, see MeanRegret. Only seeds and periods count
// that all these entries have: the average is over the periods up to the last common one.
//
// The interval begins at the least computation that may perform well, which is that the lower end of its average
// regret's interval is below the target, and ends at the least that does.
func LeastComputation(h Header, rows []Row, entries []int, target func(*Setting) float64) (Least, error) {
	all, seeds, err := price(h, rows, entries, target)
	out := Least{Runs: len(seeds), seeds: seeds, all: all}
	if err != nil {
		return out, err
	}
	may, does := least(all, 1-Level)
	if does < 0 {
		return out, fmt.Errorf("%w: none of %d settings of agent %s has an average regret below its target with "+
			"confidence (%d runs)", ErrNoneBelow, len(entries), h.Spec.Entries[entries[0]].Agent, out.Runs)
	}
	out.Entry, out.Average = entries[does], all[does].average
	value := Float(all[does].computation)
	out.Computation = Estimate{Value: value, Lower: Float(all[may].computation), Upper: value}
	return out, nil
}

// Over is the ratio of the least computation to that of other settings on the same seeds, from the ends of both
// intervals, and a p-value of the hypothesis that this ratio is bound, against both sides. The error is ErrNotInStudy
// when the seeds are others.
func (l Least) Over(other Least, bound float64) (ratio Estimate, p float64, err error) {
	if !slices.Equal(l.seeds, other.seeds) {
		return ratio, 0, fmt.Errorf("%w: the settings that are compared have %d and %d runs, whose seeds are not the same",
			ErrNotInStudy, l.Runs, other.Runs)
	}
	a, b := l.Computation, other.Computation
	ratio = Estimate{Value: a.Value / b.Value, Lower: a.Lower / b.Upper, Upper: a.Upper / b.Lower}
	levels := []float64{1}
	for _, s := range slices.Concat(l.all, other.all) {
		levels = append(levels, s.p)
	}
	slices.Sort(levels)
	for _, p = range slices.Backward(levels) {
		// The interval of all p-values below p gets wider as p falls.
		if lower, upper := ratioAt(l.all, other.all, p); lower <= bound && bound <= upper {
			break
		}
	}
	return ratio, p, nil
}

// Bounds are the ends of the interval of the ratio of Over, where it has one or both: also where no setting of an agent
// performs well with confidence. An end that is not known is 0 or infinite.
func (l Least) Bounds(other Least) (lower, upper float64) { return ratioAt(l.all, other.all, 1-Level) }

// RunsToPass is about the fewest runs with which one more setting would perform well with confidence, if its average
// regret stays: infinite where none is below its target.
func (l Least) RunsToPass() float64 {
	fewest := math.Inf(1)
	for _, s := range l.all {
		margin := math.Log(s.target / float64(s.average.Value))
		if half := math.Log(float64(s.average.Upper / s.average.Value)); 0 < margin && margin <= half {
			fewest = min(fewest, float64(l.Runs)*math.Pow(half/margin, 2))
		}
	}
	return fewest
}

// ratioAt are the ends of a ratio's interval, as far as p-values below alpha tell; 0 and infinite where they do not.
func ratioAt(a, b []priced, alpha float64) (lower, upper float64) {
	mayA, doesA := least(a, alpha)
	mayB, doesB := least(b, alpha)
	upper = math.Inf(1)
	if doesA >= 0 && mayB >= 0 {
		upper = a[doesA].computation / b[mayB].computation
	}
	if doesB >= 0 && mayA >= 0 {
		lower = a[mayA].computation / b[doesB].computation
	}
	return lower, upper
}

// priced is a setting with its computation and the average regret of its runs.
type priced struct {
	computation float64
	average     Estimate // regret per period
	target      float64
	p           float64 // of the hypothesis that the average is the target
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
		average, bar := MeanRegret(regret), target(setting)
		all = append(all, priced{agent.Computation(), average, bar, average.PValue(bar)})
	}
	return all, seeds, nil
}

// least are the places of the settings with the least computation that may perform well, and that does: as far as
// p-values below alpha tell. They are -1 where there is none.
func least(all []priced, alpha float64) (may, does int) {
	may, does = -1, -1
	for i, s := range all {
		mean := float64(s.average.Value)
		if certain := s.p < alpha; (!certain || mean < s.target) && (may < 0 || s.computation < all[may].computation) {
			may = i
		}
		if s.p < alpha && mean < s.target && (does < 0 || s.computation < all[does].computation) {
			does = i
		}
	}
	return may, does
}
