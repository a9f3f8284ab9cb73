package analysis

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// RegretSlope returns the slope of log mean regret against log x over the entries of results, where x[i] belongs to
// entry i, with an interval over seeds. The cumulative regret of a run of entry i at the last common period, divided by
// the mean, moves the slope by w_i, where w_i are the least-squares weights of the line (the delta method). The error
// wraps ErrNoRows if there are no common seeds or periods.
func RegretSlope(rows []lab.Row, x []float64) (slope stats.Estimate, period, runs int, err error) {
	histories := make([]history, len(x))
	for i := range x {
		histories[i] = historyOf(rows, i)
	}
	seeds, periods := common(histories...)
	if err := enough(seeds, periods); err != nil {
		return slope, 0, 0, err
	}
	period = periods[len(periods)-1]
	lx := make([]float64, len(x))
	for i, v := range x {
		lx[i] = math.Log(v)
	}
	centre, spread := stat.Mean(lx, nil), stat.Variance(lx, nil)*float64(len(lx)-1)
	value, moves := 0.0, make([]float64, len(seeds))
	for i, h := range histories {
		regret, weight := h.at(period, seeds), (lx[i]-centre)/spread
		mean := stat.Mean(regret, nil)
		value += weight * math.Log(mean)
		for j, r := range regret {
			moves[j] += weight * r / mean
		}
	}
	_, se := stats.MeanSE(moves)
	return stats.Student(value, se, len(seeds)), period, len(seeds), nil
}

// LateSlope returns the slope of log mean cumulative regret against the log of the period, from half of the periods to
// the end. It is below 1 if the regret per period falls. Its interval is over seeds, by the delta method as in
// [RegretSlope]. The error wraps ErrNoRows if there are no runs or fewer than two periods.
func LateSlope(rows []lab.Row, entry int) (slope stats.Estimate, period, runs int, err error) {
	h := historyOf(rows, entry)
	seeds, periods := common(h)
	if err := enough(seeds, periods); err != nil {
		return slope, 0, 0, err
	}
	period = periods[len(periods)-1]
	half := before(periods, period/2)
	if half == 0 {
		return slope, 0, 0, fmt.Errorf("%w: no row in the first half of the periods", ErrNoRows)
	}
	all, first, span := h.at(period, seeds), h.at(half, seeds), math.Log(float64(period)/float64(half))
	meanAll, meanFirst, moves := stat.Mean(all, nil), stat.Mean(first, nil), make([]float64, len(seeds))
	for i := range seeds {
		moves[i] = (all[i]/meanAll - first[i]/meanFirst) / span
	}
	_, se := stats.MeanSE(moves)
	return stats.Student(math.Log(meanAll/meanFirst)/span, se, len(seeds)), period, len(seeds), nil
}
