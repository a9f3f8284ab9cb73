package lab

import "math"

// Standing is how an entry did by the last period that all its runs reached. Regret is heavy-tailed over seeds on hard
// problems: the mean is the paper's statistic, the median tells of a typical run, and the share that failed of the
// rest.
type Standing struct {
	Agent    string         `json:"agent"`
	Settings map[string]any `json:"settings"`
	Period   int            `json:"period"`
	Runs     int            `json:"runs"`     // diverged ones included
	Diverged int            `json:"diverged"` // runs
	Mean     Estimate       `json:"mean"`     // of cumulative regret
	Median   Estimate       `json:"median"`
	Failed   Estimate       `json:"failed"` // share of runs that failed
	// mean less that of the first entry, over Pairs at their last common period; NaN without any
	Difference Estimate `json:"difference"`
	Pairs      int      `json:"pairs"` // of runs with the same seed
}

// Compare returns one Standing for each entry, in their order. A run counts as failed whose regret per period over the
// last half of the periods is above failure, see [Experiment].
func Compare(h Header, rows []Row, failure float64) ([]Standing, error) {
	var out []Standing
	for i, e := range h.Spec.Entries {
		regret, last, diverged, err := finals(rows, i, e)
		if err != nil {
			return nil, err
		}
		runs := historyOf(rows, i)
		s := Standing{Agent: e.Agent, Settings: Values(e.Setting), Period: last, Runs: len(regret),
			Diverged: diverged}
		s.Mean = MeanRegret(regret)
		s.Median, s.Failed = median(regret), share(runs.failed(failure), len(regret))
		if i > 0 {
			s.Difference, s.Pairs = differenceFrom(rows, i, 0)
		}
		out = append(out, s)
	}
	return out, nil
}

// differenceFrom is the mean difference of one entry from another, NaN where nothing pairs them.
func differenceFrom(rows []Row, entry, other int) (e Estimate, pairs int) {
	d, err := PairedDifference(rows, entry, other)
	if err != nil {
		nan := Float(math.NaN())
		return Estimate{Value: nan, Lower: nan, Upper: nan}, 0
	}
	return d.Mean, d.Pairs
}

// failed is the number of runs whose regret per period over the last half or so is above a bound, or is NaN.
func (h history) failed(bound float64) (n int) {
	seeds, periods := common(h)
	last := periods[len(periods)-1]
	middle := before(periods, (last+1)/2)
	for _, late := range h.since(middle, last, seeds) {
		if !(late/float64(last-middle) <= bound) {
			n++
		}
	}
	return n
}

// before is the last of the periods that is not above one, or 0.
func before(periods []int, limit int) (found int) {
	for _, p := range periods {
		if p <= limit {
			found = p
		}
	}
	return found
}

// since is the regret of runs from the end of one period, or from the start for 0, to that of another.
func (h history) since(from, to int, seeds []uint64) []float64 {
	out := h.at(to, seeds)
	if from == 0 {
		return out
	}
	for i, x := range h.at(from, seeds) {
		out[i] -= x
	}
	return out
}
