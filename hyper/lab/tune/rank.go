package tune

import (
	"cmp"
	"math"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// ranked is an Outcome with the numbers that determine its rank.
type ranked struct {
	Outcome
	index int // of the candidate
	class int // candidates of a lower class rank first
	price float64
}

// judge ranks the candidates by mean regret, which is the paper's statistic. If there is a target, an average regret
// that depends on the setting, candidates below their target rank first, see [Search].
func judge(h lab.Header, rows []lab.Row, candidates []candidate, target func(*lab.Setting) float64) ([]ranked, error) {
	summaries, err := analysis.Summarize(h, rows)
	if err != nil {
		return nil, err
	}
	out := make([]ranked, len(candidates))
	for i, s := range summaries {
		out[i] = ranked{Outcome: Outcome{Settings: candidates[i].values, Mean: orInfinite(s.Cumulative),
			SE:     orInfinite(s.CumulativeSE),
			Median: orInfinite(s.CumulativeMedian), Diverged: s.Diverged, Champion: candidates[i].champion}, index: i}
		out[i].price = float64(out[i].Mean)
		if target == nil {
			continue
		}
		out[i].Computation = s.Computation
		bound, mean := target(candidates[i].entry.Setting)*float64(s.Periods), float64(out[i].Mean)
		_, regrets, err := analysis.Regrets(rows, []float64{1}, i)
		if err != nil {
			return nil, err
		}
		switch upper := stats.MeanRegret(regrets[0][0]).Upper; {
		case float64(upper) < bound:
			out[i].class, out[i].price = -2, s.Computation
		case mean < bound:
			out[i].class, out[i].price = -1, s.Computation
		}
	}
	slices.SortStableFunc(out, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.price, b.price), cmp.Compare(a.Mean, b.Mean))
	})
	return out, behind(rows, out)
}

// behind sets, for each outcome after the first, the difference of its mean regret from the first one's.
func behind(rows []lab.Row, out []ranked) error {
	for i := range out[1:] {
		d, err := analysis.PairedDifference(rows, out[i+1].index, out[0].index)
		if err != nil {
			return err
		}
		out[i+1].Behind, out[i+1].BehindSE = d.Mean.Value, stats.Float(d.Mean.StdErr())
	}
	return nil
}

// orInfinite returns a statistic, or +Inf if it is nil.
func orInfinite(x *stats.Float) stats.Float {
	if x == nil {
		return stats.Float(math.Inf(1))
	}
	return *x
}
