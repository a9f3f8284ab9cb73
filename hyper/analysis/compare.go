package analysis

import (
	"slices"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Standing is the result of an entry at the last period that all its runs have reached. On hard problems the regret is
// heavy-tailed over seeds, so Standing has three statistics: the mean, which is the paper's; the median, which
// describes a typical run; and the share of runs that failed.
type Standing struct {
	Agent    string         `json:"agent"`
	Settings map[string]any `json:"settings"`
	Period   int            `json:"period"`
	Runs     int            `json:"runs"`     // including diverged ones
	Diverged int            `json:"diverged"` // number of runs
	Mean     stats.Estimate `json:"mean"`     // cumulative regret
	Median   stats.Estimate `json:"median"`
	Failed   stats.Estimate `json:"failed"` // share of the runs; NaN if the experiment does not say when a run fails
	// Difference is the mean regret of this entry minus the mean regret of the first entry, over Pairs at their last
	// common period. It is NaN if there are no pairs, and 0 with no pairs for the first entry itself.
	Difference stats.Estimate `json:"difference"`
	Pairs      int            `json:"pairs"` // number of pairs of runs with the same seed
}

// Compare returns one Standing for each entry, in the order of the entries. A run fails if its regret per period over
// the last half of the periods is above failure, see [lab.Experiment]; 0 means that the experiment does not say this.
func Compare(h lab.Header, rows []lab.Row, failure float64) ([]Standing, error) {
	var out []Standing
	own := byEntry(rows, len(h.Spec.Entries))
	for i, e := range h.Spec.Entries {
		runs, err := completeRuns(own[i], i, e)
		if err != nil {
			return nil, err
		}
		last := runs.last()
		regret := runs.regret(0, last)
		s := Standing{Agent: e.Agent, Settings: catalog.Values(e.Setting), Period: last, Runs: len(regret),
			Diverged: runs.diverged(0, last)}
		s.Mean = stats.MeanRegret(regret)
		s.Median, s.Failed = stats.Median(regret), stats.NoEstimate()
		if failure > 0 {
			s.Failed = stats.Share(runs.failed(failure), len(regret))
		}
		if i > 0 {
			s.Difference, s.Pairs = differenceFrom(slices.Concat(own[0], own[i]), i, 0)
		}
		out = append(out, s)
	}
	return out, nil
}

// differenceFrom returns the mean difference between two entries, or NaN if they have no pairs of runs.
func differenceFrom(rows []lab.Row, entry, other int) (e stats.Estimate, pairs int) {
	d, err := PairedDifference(rows, entry, other)
	if err != nil {
		return stats.NoEstimate(), 0
	}
	return d.Mean, d.Pairs
}

// failed returns the number of runs of the first entry whose regret per period over about the last half is above a
// bound, or is NaN.
func (c commonRuns) failed(bound float64) (n int) {
	middle := before(c.periods, (c.last()+1)/2)
	for _, late := range c.regretSince(0, middle) {
		if !(late/float64(c.last()-middle) <= bound) {
			n++
		}
	}
	return n
}

// before returns the last of the periods that is at most limit, or 0 if there is none.
func before(periods []int, limit int) (found int) {
	for _, p := range periods {
		if p <= limit {
			found = p
		}
	}
	return found
}
