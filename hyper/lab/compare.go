package lab

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"
)

// Estimate is a statistic with a bootstrap interval at Level. Bounds are NaN where there are too few runs.
type Estimate struct {
	Value Float `json:"value"`
	Lower Float `json:"lower"`
	Upper Float `json:"upper"`
}

// String is the estimate with its interval.
func (e Estimate) String() string {
	return fmt.Sprintf("%.4g [%.4g, %.4g]", float64(e.Value), float64(e.Lower), float64(e.Upper))
}

// Standing is how an entry did by the last period that all its runs reached, over the runs that did not diverge. Regret is heavy-tailed over
// seeds on hard problems: the mean is the paper's statistic, the median tells of a typical run, and the share that failed of the rest.
type Standing struct {
	Agent      string         `json:"agent"`
	Settings   map[string]any `json:"settings"`
	Period     int            `json:"period"`
	Runs       int            `json:"runs"`
	Diverged   int            `json:"diverged"`
	Mean       Estimate       `json:"mean"` // of cumulative regret
	Median     Estimate       `json:"median"`
	Failed     Estimate       `json:"failed"`     // share of runs that failed
	Difference Estimate       `json:"difference"` // mean less that of the first entry, over pairs of runs with the same seed at the last common period
	Pairs      int            `json:"pairs"`
}

// Compare returns one Standing for each entry, in their order. A run counts as failed whose regret per period over the last half of the
// periods is above failure, see [Experiment].
func Compare(h Header, rows []Row, failure float64) ([]Standing, error) {
	var out []Standing
	for i, e := range h.Spec.Entries {
		runs := historyOf(rows, i)
		sound := runs.sound()
		periods := runs.periods(runs.seeds())
		if len(periods) == 0 {
			return nil, fmt.Errorf("entry %d (agent %s): %w: no period that all its runs have reached", i, e.Agent, ErrNoRows)
		}
		last := periods[len(periods)-1]
		s := Standing{Agent: e.Agent, Settings: Values(e.Setting), Period: last, Runs: len(sound), Diverged: len(runs) - len(sound)}
		if len(sound) == 0 { // all diverged: there is nothing to estimate
			nan := Estimate{Float(math.NaN()), Float(math.NaN()), Float(math.NaN())}
			s.Mean, s.Median, s.Failed, s.Difference = nan, nan, nan, nan
			out = append(out, s)
			continue
		}
		regret := runs.at(last, sound)
		s.Mean = bootstrap(regret, func(x []float64) float64 { return stat.Mean(x, nil) })
		s.Median = bootstrap(regret, func(x []float64) float64 { return quantile(x, 0.5) })
		s.Failed = bootstrap(runs.failed(periods, sound, failure), func(x []float64) float64 { return stat.Mean(x, nil) })
		if d, err := PairedDifference(rows, i, 0); err == nil && i > 0 {
			s.Difference, s.Pairs = Estimate{d.Mean, d.Lower, d.Upper}, d.Pairs
		}
		out = append(out, s)
	}
	return out, nil
}

// failed is 1 for each run whose regret per period, over the last half of the periods or so, is above a bound.
func (h history) failed(periods []int, seeds []uint64, bound float64) []float64 {
	last, middle := periods[len(periods)-1], 0
	for _, p := range periods {
		if p <= (last+1)/2 {
			middle = p
		}
	}
	before, after := make([]float64, len(seeds)), h.at(last, seeds)
	if middle > 0 {
		before = h.at(middle, seeds)
	}
	out := make([]float64, len(seeds))
	for i := range out {
		if (after[i]-before[i])/float64(last-middle) > bound {
			out[i] = 1
		}
	}
	return out
}

// bootstrap returns a statistic of x with percentiles over 2000 resamples. Its seed is fixed: equal results have equal intervals.
func bootstrap(x []float64, statistic func([]float64) float64) Estimate {
	if len(x) < 2 {
		return Estimate{Float(statistic(x)), Float(math.NaN()), Float(math.NaN())}
	}
	random := rand.New(rand.NewPCG(1, 2))
	draws, sample := make([]float64, 2000), make([]float64, len(x))
	for r := range draws {
		for i := range sample {
			sample[i] = x[random.IntN(len(x))]
		}
		draws[r] = statistic(sample)
	}
	return Estimate{Float(statistic(x)), Float(quantile(draws, (1-Level)/2)), Float(quantile(draws, (1+Level)/2))}
}
