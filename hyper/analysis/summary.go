package analysis

import (
	"errors"
	"fmt"
	"math"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// ErrNoRows is the cause of errors about statistics of runs that have no rows.
var ErrNoRows = errors.New("no rows")

// Summary holds the results of an entry. Regret is expected regret, in units of reward. A statistic that cannot be
// computed, such as the standard error of a single run, is nil.
type Summary struct {
	Experiment       string         `json:"experiment"`
	Agent            string         `json:"agent"`
	Settings         map[string]any `json:"settings"`
	Runs             int            `json:"runs"`    // number of runs with rows, including diverged ones
	Periods          int            `json:"periods"` // the last period that all these runs have reached
	Seed             uint64         `json:"seed"`
	Backend          string         `json:"backend"`
	Average          *stats.Float   `json:"average_regret"` // per period
	AverageSE        *stats.Float   `json:"average_regret_se"`
	Cumulative       *stats.Float   `json:"cumulative_regret"`
	CumulativeSE     *stats.Float   `json:"cumulative_regret_se"`
	CumulativeMedian *stats.Float   `json:"cumulative_regret_median"`
	Diverged         int            `json:"diverged"`    // number of runs that diverged
	Computation      float64        `json:"computation"` // per period, see [lab.Agent]
}

// Summarize returns one Summary for each entry, in the order of the entries. For unfinished results it uses the periods
// that all runs have.
func Summarize(h lab.Header, rows []lab.Row) ([]Summary, error) {
	var out []Summary
	own := byEntry(rows, len(h.Spec.Entries))
	for i, e := range h.Spec.Entries {
		runs, err := completeRuns(own[i], i, e)
		if err != nil {
			return nil, err
		}
		last := runs.last()
		regret := runs.regret(0, last)
		_, agent := e.Setting.Build(h.Spec.Periods)
		s := Summary{
			Experiment: h.Spec.Experiment, Agent: e.Agent, Settings: catalog.Values(e.Setting), Runs: len(regret),
			Periods: last, Seed: h.Spec.Seed, Backend: h.Backend, Diverged: runs.diverged(0, last),
			Computation: agent.Computation(),
		}
		mean, se := stats.MeanSE(regret)
		s.Cumulative, s.CumulativeSE, s.CumulativeMedian = orNil(mean), orNil(se), orNil(stats.Quantile(regret, 0.5))
		s.Average, s.AverageSE = orNil(mean/float64(last)), orNil(se/float64(last))
		out = append(out, s)
	}
	return out, nil
}

// completeRuns returns the runs of an entry, or an error if there is no period that all of them have reached.
func completeRuns(rows []lab.Row, entry int, e lab.Entry) (commonRuns, error) {
	runs := commonRunsOf(rows, entry)
	if len(runs.periods) == 0 {
		return runs, fmt.Errorf("entry %d (agent %s): %w: there is no period that all its runs have reached", entry, e.Agent,
			ErrNoRows)
	}
	return runs, nil
}

// orNil returns x, or nil for NaN.
func orNil(x float64) *stats.Float {
	if math.IsNaN(x) {
		return nil
	}
	return new(stats.Float(x))
}
