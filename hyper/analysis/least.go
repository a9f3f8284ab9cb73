package analysis

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Least is the least computation with which one of some settings performs well.
type Least struct {
	Entry       int            // index of the setting that has this computation
	Computation stats.Estimate // per period, by the paper's formula
	Average     stats.Estimate // regret per period of Entry
	Runs        int

	seeds []uint64
	all   []priced
}

// ErrNoneBelow reports that no setting has an average regret below its target with confidence.
var ErrNoneBelow = errors.New("no setting performs well")

// LeastComputation finds the least computation that performs well, among the settings of some entries. A setting
// performs well if its average regret is below target with confidence: the upper end of the interval is below target,
// see [stats.MeanRegret]. Only seeds and periods that all these entries have count. The average is over the periods up
// to the last common one.
//
// The interval of the result begins at the least computation that may perform well, and ends at the least computation
// that does. A setting may perform well if the lower end of the interval of its average regret is below the target.
func LeastComputation(h lab.Header, rows []lab.Row, entries []int, target func(*lab.Setting) float64) (Least, error) {
	all, seeds, err := price(h, rows, entries, target)
	out := Least{Runs: len(seeds), seeds: seeds, all: all}
	if err != nil {
		return out, err
	}
	may, does := least(all, 1-stats.Level)
	if does < 0 {
		return out, fmt.Errorf("%w: none of %d settings of agent %s has an average regret below its target with "+
			"confidence (%d runs)", ErrNoneBelow, len(entries), h.Spec.Entries[entries[0]].Agent, out.Runs)
	}
	out.Entry, out.Average = entries[does], all[does].average
	value := stats.Float(all[does].computation)
	out.Computation = stats.Estimate{Value: value, Lower: stats.Float(all[may].computation), Upper: value}
	return out, nil
}

// Over returns the ratio of the least computation to the least computation of other settings on the same seeds. Its
// interval comes from the ends of both intervals. p is the two-sided p-value of the hypothesis that the ratio is bound.
// The error wraps ErrMissing if the seeds differ.
func (l Least) Over(other Least, bound float64) (ratio stats.Estimate, p float64, err error) {
	if !slices.Equal(l.seeds, other.seeds) {
		return ratio, 0, fmt.Errorf("%w: the two sides of the comparison have %d and %d runs with different seeds",
			ErrMissing, l.Runs, other.Runs)
	}
	a, b := l.Computation, other.Computation
	ratio = stats.Estimate{Value: a.Value / b.Value, Lower: a.Lower / b.Upper, Upper: a.Upper / b.Lower}
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

// Bounds returns the ends of the interval of the ratio that Over estimates. It also works if no setting of one side
// performs well with confidence: an end that is not known is 0 or infinite.
func (l Least) Bounds(other Least) (lower, upper float64) {
	return ratioAt(l.all, other.all, 1-stats.Level)
}

// RunsToPass returns roughly the fewest runs with which one more setting would perform well with 95% confidence, if its
// average regret stays the same, and the computation of this setting. The number is infinite if no further setting has
// an average regret below its target.
func (l Least) RunsToPass() (runs, computation float64) {
	runs = math.Inf(1)
	for _, s := range l.all {
		margin := math.Log(s.target / float64(s.average.Value))
		half := math.Log(float64(s.average.Upper / s.average.Value))
		if n := float64(l.Runs) * math.Pow(half/margin, 2); 0 < margin && margin <= half && n < runs {
			runs, computation = n, s.computation
		}
	}
	return runs, computation
}

// ratioAt returns the ends of the interval of a ratio, as far as p-values below alpha determine them; otherwise 0 and
// infinity.
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

// priced is a setting with its computation and with the average regret of its runs.
type priced struct {
	computation float64
	average     stats.Estimate // regret per period
	target      float64
	p           float64 // p-value of the hypothesis that the average is the target
}

// price returns the entries with their average regrets up to the last period that all entries have reached, over the
// seeds that all entries have.
func price(h lab.Header, rows []lab.Row, entries []int, target func(*lab.Setting) float64) (all []priced, seeds []uint64,
	err error) {
	runs := commonRunsOf(rows, entries...)
	if len(runs.seeds) < 2 {
		return nil, runs.seeds, fmt.Errorf("%w: the %d settings have %d seeds in common, but an interval needs at least two",
			ErrNoRows, len(entries), len(runs.seeds))
	}
	if err := runs.check(); err != nil {
		return nil, runs.seeds, fmt.Errorf("the %d settings of agent %s: %w", len(entries),
			h.Spec.Entries[entries[0]].Agent, err)
	}
	for i, n := range entries {
		setting := h.Spec.Entries[n].Setting
		_, agent := setting.Build(h.Spec.Periods)
		regret := runs.regret(i, runs.last())
		for j := range regret {
			regret[j] /= float64(runs.last())
		}
		average, bar := stats.MeanRegret(regret), target(setting)
		all = append(all, priced{agent.Computation(), average, bar, average.PValue(bar)})
	}
	return all, runs.seeds, nil
}

// least returns two indices: of the setting with the least computation that may perform well, and of the one with the
// least computation that does, as far as p-values below alpha determine it. An index is -1 if there is no such setting.
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
