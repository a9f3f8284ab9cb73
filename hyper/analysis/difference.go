package analysis

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Difference compares the cumulative regret of two entries, A and B, that ran in the same environments. Intervals are
// at [stats.Level]. Their ends are NaN if there is only one pair.
type Difference struct {
	Period   int            // the last period that all pairs have reached in both entries
	Pairs    int            // number of pairs of runs with the same seed
	Diverged [2]int         // number of runs of the pairs that diverged: of A, and of B
	Mean     stats.Estimate // mean of A minus B
	Ratio    stats.Estimate // mean of A divided by mean of B
	// Share is the largest share of one seed in the sum of A minus B. It is 1 if that seed alone makes the difference,
	// and more than 1 if the other seeds together have the opposite sign. It is NaN if the sum is zero.
	Share stats.Float
}

// PairedDifference pairs the runs of two entries by seed. The error wraps ErrNoRows if there is no pair or no common
// period.
func PairedDifference(rows []lab.Row, entryA, entryB int) (Difference, error) {
	d, _, err := difference(rows, entryA, entryB, false)
	return d, err
}

// LateDifference is PairedDifference for late regret: the regret after period from, which is the last common period
// that is at most half of the last one.
func LateDifference(rows []lab.Row, entryA, entryB int) (d Difference, from int, err error) {
	return difference(rows, entryA, entryB, true)
}

// difference compares the regret of two entries, or their late regret.
func difference(rows []lab.Row, entryA, entryB int, late bool) (d Difference, from int, err error) {
	runs := commonRunsOf(rows, entryA, entryB)
	d.Pairs = len(runs.seeds)
	if err := runs.check(); err != nil {
		return d, 0, fmt.Errorf("entries %d and %d: %w", entryA, entryB, err)
	}
	d.Period = runs.last()
	if late {
		from = before(runs.periods, d.Period/2)
	}
	regretA, regretB := runs.regretSince(0, from), runs.regretSince(1, from)
	d.subtract(regretA, regretB)
	d.Diverged = [2]int{runs.diverged(0, d.Period), runs.diverged(1, d.Period)}
	d.Ratio = stats.RatioOfRegrets(regretA, regretB)
	return d, from, nil
}

// PairedContrast returns the mean of (A - B) - (C - D) over the seeds that all four entries have, as a Difference
// without a Ratio. Its Diverged counts the runs of A and C, and of B and D.
func PairedContrast(rows []lab.Row, a, b, c, d int) (Difference, error) {
	runs := commonRunsOf(rows, a, b, c, d)
	out := Difference{Pairs: len(runs.seeds)}
	if err := runs.check(); err != nil {
		return out, fmt.Errorf("entries %d, %d, %d and %d: %w", a, b, c, d, err)
	}
	out.Period = runs.last()
	plus, minus := make([]float64, out.Pairs), make([]float64, out.Pairs)
	for i, side := range [][]float64{plus, minus, minus, plus} {
		floats.Add(side, runs.regret(i, out.Period))
		out.Diverged[i%2] += runs.diverged(i, out.Period)
	}
	out.subtract(plus, minus)
	return out, nil
}

// subtract sets Mean and Share from the pairs a minus b.
func (d *Difference) subtract(a, b []float64) {
	differences := floats.SubTo(make([]float64, len(a)), a, b)
	d.Mean, d.Share = stats.MeanDifference(differences), stats.Float(math.NaN())
	if sum := stat.Mean(differences, nil) * float64(len(differences)); sum != 0 {
		d.Share = stats.Float(max(slices.Max(differences)/sum, slices.Min(differences)/sum))
	}
}

// Regrets returns the cumulative regrets of entries at some shares of the last common period. For each share it takes
// the last common period that is at most this share of the last one. regrets has the indices share, entry and seed,
// over the seeds that all entries have, in ascending order. The error wraps ErrNoRows if the entries have no common
// seeds or periods.
func Regrets(rows []lab.Row, shares []float64, entries ...int) (periods []int, regrets [][][]float64, err error) {
	runs := commonRunsOf(rows, entries...)
	if err := runs.check(); err != nil {
		return nil, nil, err
	}
	for _, share := range shares {
		period := before(runs.periods, int(math.Round(share*float64(runs.last()))))
		if period == 0 {
			return nil, nil, fmt.Errorf("%w: no row in the first %v of the periods", ErrNoRows, share)
		}
		at := make([][]float64, len(entries))
		for i := range entries {
			at[i] = runs.regret(i, period)
		}
		periods, regrets = append(periods, period), append(regrets, at)
	}
	return periods, regrets, nil
}
