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
	d, _, err := difference(rows, entryA, entryB, func([]int) int { return 0 })
	return d, err
}

// LateDifference is PairedDifference for late regret: the regret after period from, which is the last common period
// that is at most half of the last one.
func LateDifference(rows []lab.Row, entryA, entryB int) (d Difference, from int, err error) {
	return difference(rows, entryA, entryB, func(periods []int) int {
		return before(periods, periods[len(periods)-1]/2)
	})
}

// difference compares the regret of two entries after one of their common periods. The function start chooses the
// period; 0 means the start of the runs.
func difference(rows []lab.Row, entryA, entryB int, start func(periods []int) int) (d Difference, from int, err error) {
	a, b := historyOf(rows, entryA), historyOf(rows, entryB)
	seeds, periods := common(a, b)
	d.Pairs = len(seeds)
	if err := enough(seeds, periods); err != nil {
		return d, 0, fmt.Errorf("entries %d and %d: %w", entryA, entryB, err)
	}
	d.Period, from = periods[len(periods)-1], start(periods)
	regretA, regretB := a.since(from, d.Period, seeds), b.since(from, d.Period, seeds)
	d.subtract(regretA, regretB)
	d.Diverged = [2]int{a.diverged(d.Period, seeds), b.diverged(d.Period, seeds)}
	d.Ratio = stats.RatioOfRegrets(regretA, regretB)
	return d, from, nil
}

// enough returns an error if the runs that are to be compared have no common seed or no common period.
func enough(seeds []uint64, periods []int) error {
	switch {
	case len(seeds) == 0:
		return fmt.Errorf("%w: the entries have no seed in common", ErrNoRows)
	case len(periods) == 0:
		return fmt.Errorf("%w: there are %d common seeds, but no period at which all their runs have rows; some "+
			"pieces of the study may have been exported at different periods: export them again", ErrNoRows, len(seeds))
	}
	return nil
}

// PairedContrast returns the mean of (A - B) - (C - D) over the seeds that all four entries have, as a Difference
// without a Ratio. Its Diverged counts the runs of A and C, and of B and D.
func PairedContrast(rows []lab.Row, a, b, c, d int) (Difference, error) {
	of := []history{historyOf(rows, a), historyOf(rows, b), historyOf(rows, c), historyOf(rows, d)}
	seeds, periods := common(of...)
	out := Difference{Pairs: len(seeds)}
	if err := enough(seeds, periods); err != nil {
		return out, fmt.Errorf("entries %d, %d, %d and %d: %w", a, b, c, d, err)
	}
	out.Period = periods[len(periods)-1]
	plus, minus := make([]float64, len(seeds)), make([]float64, len(seeds))
	for i, h := range of {
		side := [][]float64{plus, minus, minus, plus}[i]
		for j, x := range h.at(out.Period, seeds) {
			side[j] += x
		}
	}
	out.subtract(plus, minus)
	for i, h := range of {
		out.Diverged[i%2] += h.diverged(out.Period, seeds)
	}
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
	var histories []history
	for _, entry := range entries {
		histories = append(histories, historyOf(rows, entry))
	}
	seeds, all := common(histories...)
	if err := enough(seeds, all); err != nil {
		return nil, nil, err
	}
	for _, share := range shares {
		period := before(all, int(math.Round(share*float64(all[len(all)-1]))))
		if period == 0 {
			return nil, nil, fmt.Errorf("%w: no row in the first %v of the periods", ErrNoRows, share)
		}
		at := make([][]float64, len(entries))
		for i, h := range histories {
			at[i] = h.at(period, seeds)
		}
		periods, regrets = append(periods, period), append(regrets, at)
	}
	return periods, regrets, nil
}
