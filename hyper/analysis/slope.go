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
	entries := make([]int, len(x))
	for i := range x {
		entries[i] = i
	}
	all := commonRunsOf(rows, entries...)
	if err := all.check(); err != nil {
		return slope, 0, 0, err
	}
	period, runs = all.last(), len(all.seeds)
	lx := make([]float64, len(x))
	for i, v := range x {
		lx[i] = math.Log(v)
	}
	centre, spread := stat.Mean(lx, nil), stat.Variance(lx, nil)*float64(len(lx)-1)
	value, moves := 0.0, make([]float64, runs)
	for i := range x {
		regret, weight := all.regret(i, period), (lx[i]-centre)/spread
		mean := stat.Mean(regret, nil)
		value += weight * math.Log(mean)
		for j, r := range regret {
			moves[j] += weight * r / mean
		}
	}
	_, se := stats.MeanSE(moves)
	return stats.Student(value, se, runs), period, runs, nil
}

// LateSlope returns the slope of log mean cumulative regret against the log of the period, from half of the periods to
// the end. It is below 1 if the regret per period falls. Its interval is over seeds, by the delta method as in
// [RegretSlope]. The error wraps ErrNoRows if there are no runs or fewer than two periods.
func LateSlope(rows []lab.Row, entry int) (slope stats.Estimate, period, runs int, err error) {
	all := commonRunsOf(rows, entry)
	if err := all.check(); err != nil {
		return slope, 0, 0, err
	}
	period, runs = all.last(), len(all.seeds)
	half := before(all.periods, period/2)
	if half == 0 {
		return slope, 0, 0, fmt.Errorf("%w: no row in the first half of the periods", ErrNoRows)
	}
	whole, first, span := all.regret(0, period), all.regret(0, half), math.Log(float64(period)/float64(half))
	meanWhole, meanFirst, moves := stat.Mean(whole, nil), stat.Mean(first, nil), make([]float64, runs)
	for i := range moves {
		moves[i] = (whole[i]/meanWhole - first[i]/meanFirst) / span
	}
	_, se := stats.MeanSE(moves)
	return stats.Student(math.Log(meanWhole/meanFirst)/span, se, runs), period, runs, nil
}
