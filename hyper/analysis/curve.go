package analysis

import (
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Curve is the cumulative regret of an entry over the periods that all its runs have. With a single run, the bounds are
// NaN.
type Curve struct {
	Agent     string
	Learner   string // the learner of an agent that a file defines, see [lab.Entry].Kind; otherwise ""
	Settings  map[string]any
	Usual     []string // the keys whose values are the agent's defaults or from a search, see [lab.Experiment.Tuned]
	Periods   []int
	Mean      []float64
	MeanLower []float64 // bounds of the interval of the mean, see [stats.MeanRegret]
	MeanUpper []float64
	Median    []float64
	Lower     []float64 // lower quartile
	Upper     []float64 // upper quartile
	Runs      int       // including diverged ones
	Diverged  int       // number of runs that diverged by the last period

	final stats.Estimate
}

// Curves returns one Curve for each entry, in the order of the entries. The curve of an entry without rows has no
// periods.
func Curves(h lab.Header, rows []lab.Row) []Curve {
	out := make([]Curve, len(h.Spec.Entries))
	own := byEntry(rows, len(out))
	for i, e := range h.Spec.Entries {
		runs := commonRunsOf(own[i], i)
		c := Curve{Agent: e.Agent, Learner: e.Kind, Settings: catalog.Values(e.Setting), Usual: e.Setting.Usual(),
			Periods: runs.periods, Runs: len(runs.seeds)}
		for _, period := range runs.periods {
			regret := runs.regret(0, period)
			mean := stats.MeanRegret(regret)
			c.Mean = append(c.Mean, float64(mean.Value))
			c.MeanLower = append(c.MeanLower, float64(mean.Lower))
			c.MeanUpper = append(c.MeanUpper, float64(mean.Upper))
			c.Median = append(c.Median, stats.Quantile(regret, 0.5))
			c.Lower = append(c.Lower, stats.Quantile(regret, 0.25))
			c.Upper = append(c.Upper, stats.Quantile(regret, 0.75))
			c.Diverged, c.final = runs.diverged(0, period), mean
		}
		out[i] = c
	}
	return out
}

// Final returns the mean regret of a curve at its last period, with its interval, and that period. Both are zero for a
// curve without periods.
func (c Curve) Final() (mean stats.Estimate, period int) {
	last := len(c.Periods) - 1
	if last < 0 {
		return stats.Estimate{}, 0
	}
	return c.final, c.Periods[last]
}

// String describes the end of the curve in one line.
func (c Curve) String() string {
	mean, period := c.Final()
	if period == 0 {
		return c.Agent + ": no periods"
	}
	return fmt.Sprintf("%s: regret %v after %d periods, %d runs", c.Agent, mean, period, c.Runs)
}
