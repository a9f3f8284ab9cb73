package lab

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Level is the coverage of all intervals of this package.
const Level = 0.95

// ErrNoRows is the cause of errors about statistics of runs that have no rows.
var ErrNoRows = errors.New("no rows")

// Summary is the outcome of an entry. Regret is expected regret, in units of reward, over the runs that did not diverge; a
// statistic is nil when too few of those are left: a mean or median needs one, a standard error two.
type Summary struct {
	Experiment       string         `json:"experiment"`
	Agent            string         `json:"agent"`
	Settings         map[string]any `json:"settings"`
	Runs             int            `json:"runs"`    // with rows, diverged ones included
	Periods          int            `json:"periods"` // the last period that all these runs have reached
	Seed             uint64         `json:"seed"`
	Backend          string         `json:"backend"`
	Average          *float64       `json:"average_regret"` // per period
	AverageSE        *float64       `json:"average_regret_se"`
	Cumulative       *float64       `json:"cumulative_regret"`
	CumulativeSE     *float64       `json:"cumulative_regret_se"`
	CumulativeMedian *float64       `json:"cumulative_regret_median"`
	Diverged         int            `json:"diverged"`    // runs
	Computation      float64        `json:"computation"` // per period, see Agent
}

// Summarize returns one Summary for each entry, in their order. Of unfinished results it uses what all runs have.
func Summarize(h Header, rows []Row) ([]Summary, error) {
	var out []Summary
	for i, e := range h.Spec.Entries {
		runs := historyOf(rows, i)
		periods, sound := runs.periods(runs.seeds()), runs.sound()
		if len(periods) == 0 {
			return nil, fmt.Errorf("entry %d (agent %s): %w: no period that all its runs have reached", i, e.Agent, ErrNoRows)
		}
		last := periods[len(periods)-1]
		regret := runs.at(last, sound)
		_, agent := e.Setting.Build(h.Spec.Periods)
		s := Summary{
			Experiment: h.Spec.Experiment, Agent: e.Agent, Settings: Values(e.Setting), Runs: len(runs), Periods: last,
			Seed: h.Spec.Seed, Backend: h.Backend, Diverged: len(runs) - len(sound), Computation: agent.Computation(),
		}
		mean, se := meanSE(regret)
		s.Cumulative, s.CumulativeSE, s.CumulativeMedian = finite(mean), finite(se), finite(quantile(regret, 0.5))
		s.Average, s.AverageSE = finite(mean/float64(last)), finite(se/float64(last))
		out = append(out, s)
	}
	return out, nil
}

// Curve is the cumulative regret of an entry over the periods that all its runs have, over the runs that did not
// diverge. A statistic of too few runs is NaN.
type Curve struct {
	Agent     string
	Settings  map[string]any
	Periods   []int
	Mean      []float64
	HalfWidth []float64 // of the interval of the mean: Student's t, at Level
	Median    []float64
	Lower     []float64 // lower quartile
	Upper     []float64 // upper quartile
	Runs      int       // that did not diverge
	Diverged  int       // runs that are left out
}

// Curves returns one Curve for each entry, in their order. The curve of an entry without rows has no periods.
func Curves(h Header, rows []Row) []Curve {
	out := make([]Curve, len(h.Spec.Entries))
	for i, e := range h.Spec.Entries {
		runs := historyOf(rows, i)
		sound := runs.sound()
		c := Curve{Agent: e.Agent, Settings: Values(e.Setting), Periods: runs.periods(runs.seeds()), Runs: len(sound), Diverged: len(runs) - len(sound)}
		for _, period := range c.Periods {
			regret := runs.at(period, sound)
			mean, se := meanSE(regret)
			c.Mean = append(c.Mean, mean)
			c.HalfWidth = append(c.HalfWidth, halfWidth(se, len(regret)))
			c.Median = append(c.Median, quantile(regret, 0.5))
			c.Lower = append(c.Lower, quantile(regret, 0.25))
			c.Upper = append(c.Upper, quantile(regret, 0.75))
		}
		out[i] = c
	}
	return out
}

// Difference compares the cumulative regret of two entries, A and B, that met the same environments. Bounds are at
// Level, and NaN with a single pair.
type Difference struct {
	Period     int   `json:"period"`   // the last one that all pairs have reached in both entries
	Pairs      int   `json:"pairs"`    // of runs with the same seed
	Diverged   int   `json:"diverged"` // pairs left out because either run diverged
	Unpaired   int   `json:"unpaired"` // runs whose seed the other entry lacks
	Mean       Float `json:"mean"`     // of A minus B
	Lower      Float `json:"lower"`    // Student's t
	Upper      Float `json:"upper"`
	Ratio      Float `json:"ratio"`       // mean of A over mean of B
	RatioLower Float `json:"ratio_lower"` // bootstrap over pairs, percentiles
	RatioUpper Float `json:"ratio_upper"`
}

// PairedDifference pairs the runs of two entries by seed. It fails with ErrNoRows when no pair is left.
func PairedDifference(rows []Row, entryA, entryB int) (Difference, error) {
	a, b := historyOf(rows, entryA), historyOf(rows, entryB)
	both := intersect(a.seeds(), b.seeds())
	pairs := intersect(a.sound(), b.sound())
	d := Difference{Pairs: len(pairs), Diverged: len(both) - len(pairs), Unpaired: len(a) + len(b) - 2*len(both)}
	periods := intersect(a.periods(pairs), b.periods(pairs))
	if len(periods) == 0 {
		return d, fmt.Errorf("entries %d and %d: %w: no runs with the same seed and a common period (%d pairs diverged, %d runs unpaired)",
			entryA, entryB, ErrNoRows, d.Diverged, d.Unpaired)
	}
	d.Period = periods[len(periods)-1]
	d.compare(a.at(d.Period, pairs), b.at(d.Period, pairs))
	return d, nil
}

// PairedContrast is the mean of (A - B) - (C - D) over the seeds that all four entries have: Mean, Lower and Upper of a Difference.
func PairedContrast(rows []Row, a, b, c, d int) (Difference, error) {
	of := []history{historyOf(rows, a), historyOf(rows, b), historyOf(rows, c), historyOf(rows, d)}
	both, pairs := of[0].seeds(), of[0].sound()
	for _, h := range of[1:] {
		both, pairs = intersect(both, h.seeds()), intersect(pairs, h.sound())
	}
	out := Difference{Pairs: len(pairs), Diverged: len(both) - len(pairs)}
	periods := of[0].periods(pairs)
	for _, h := range of[1:] {
		periods = intersect(periods, h.periods(pairs))
	}
	if len(periods) == 0 {
		return out, fmt.Errorf("entries %d, %d, %d and %d: %w: no runs with the same seed and a common period", a, b, c, d, ErrNoRows)
	}
	out.Period = periods[len(periods)-1]
	gaps := make([]float64, len(pairs))
	for i, h := range of {
		for j, x := range h.at(out.Period, pairs) {
			gaps[j] += []float64{1, -1, -1, 1}[i] * x
		}
	}
	mean, se := meanSE(gaps)
	half := halfWidth(se, len(gaps))
	out.Mean, out.Lower, out.Upper = Float(mean), Float(mean-half), Float(mean+half)
	return out, nil
}

func (d *Difference) compare(a, b []float64) {
	diff := make([]float64, len(a))
	for i := range a {
		diff[i] = a[i] - b[i]
	}
	mean, se := meanSE(diff)
	half := halfWidth(se, len(diff))
	lower, upper := bootstrapRatio(a, b)
	d.Mean, d.Lower, d.Upper = Float(mean), Float(mean-half), Float(mean+half)
	d.Ratio, d.RatioLower, d.RatioUpper = Float(stat.Mean(a, nil)/stat.Mean(b, nil)), Float(lower), Float(upper)
}

// bootstrapRatio returns percentiles of the ratio of means over 2000 resamples of the pairs. Its seed is fixed: equal
// results have equal intervals.
func bootstrapRatio(a, b []float64) (lower, upper float64) {
	if len(a) < 2 {
		return math.NaN(), math.NaN()
	}
	random := rand.New(rand.NewPCG(1, 2))
	ratios := make([]float64, 2000)
	for r := range ratios {
		var sumA, sumB float64
		for range a {
			i := random.IntN(len(a))
			sumA, sumB = sumA+a[i], sumB+b[i]
		}
		ratios[r] = sumA / sumB
	}
	return quantile(ratios, (1-Level)/2), quantile(ratios, (1+Level)/2)
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

// sound returns the seeds of the runs that diverge at no period, so that a curve is over the same runs everywhere.
func (h history) sound() []uint64 {
	return slices.DeleteFunc(h.seeds(), func(seed uint64) bool {
		for _, r := range h[seed] {
			if r.Diverged > 0 || finite(float64(r.Regret)) == nil {
				return true
			}
		}
		return false
	})
}

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

// intersect returns what is in both, in the order of a.
func intersect[T comparable](a, b []T) []T {
	return slices.DeleteFunc(a, func(x T) bool { return !slices.Contains(b, x) })
}

func meanSE(x []float64) (mean, se float64) {
	if len(x) == 0 {
		return math.NaN(), math.NaN()
	}
	mean, sd := stat.MeanStdDev(x, nil) // sd is NaN for one number
	return mean, stat.StdErr(sd, float64(len(x)))
}

// halfWidth is that of Student's interval for a mean of n numbers.
func halfWidth(se float64, n int) float64 {
	if n < 2 {
		return math.NaN()
	}
	return se * distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile((1+Level)/2)
}

// quantile interpolates linearly between order statistics (Hyndman and Fan's type 7, the default of R and NumPy, which
// gonum/stat lacks): the median of an even number is the mean of the middle two.
func quantile(x []float64, p float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	x = slices.Sorted(slices.Values(x))
	at := p * float64(len(x)-1)
	below, above := x[int(math.Floor(at))], x[int(math.Ceil(at))]
	if below == above {
		return below // also when both are infinite
	}
	return below + (at-math.Floor(at))*(above-below)
}

// finite returns x, or nil for NaN and infinities, which JSON lacks.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
