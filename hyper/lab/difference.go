package lab

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Difference compares the cumulative regret of two entries, A and B, that met the same environments. Bounds are at
// Level, and NaN with a single pair.
type Difference struct {
	Period   int      // the last one that all pairs have reached in both entries
	Pairs    int      // of runs with the same seed
	Diverged int      // runs of the pairs that diverged
	Mean     Estimate // of A minus B
	Ratio    Estimate // mean of A over mean of B
	// Share is the largest share that one seed has in the sum of A minus B: 1 where that seed alone makes the
	// difference, and more where the others point the other way. NaN where the sum is zero.
	Share Float
}

// PairedDifference pairs the runs of two entries by seed. The error is ErrNoRows without a pair or a common period.
func PairedDifference(rows []Row, entryA, entryB int) (Difference, error) {
	d, _, err := difference(rows, entryA, entryB, func([]int) int { return 0 })
	return d, err
}

// LateDifference is PairedDifference of late regret: of the regret after the last common period From that is not above
// half of the last one.
func LateDifference(rows []Row, entryA, entryB int) (d Difference, from int, err error) {
	return difference(rows, entryA, entryB, func(periods []int) int {
		return before(periods, periods[len(periods)-1]/2)
	})
}

// difference compares the regret of two entries from the end of one of their common periods, which start chooses; 0 is
// the start of the runs.
func difference(rows []Row, entryA, entryB int, start func(periods []int) int) (d Difference, from int, err error) {
	a, b := historyOf(rows, entryA), historyOf(rows, entryB)
	seeds, periods := common(a, b)
	d.Pairs = len(seeds)
	if err := enough(seeds, periods); err != nil {
		return d, 0, fmt.Errorf("entries %d and %d: %w", entryA, entryB, err)
	}
	d.Period, from = periods[len(periods)-1], start(periods)
	regretA, regretB := a.since(from, d.Period, seeds), b.since(from, d.Period, seeds)
	d.subtract(regretA, regretB)
	d.Diverged = a.diverged(d.Period, seeds) + b.diverged(d.Period, seeds)
	d.Ratio = RatioOfRegrets(regretA, regretB)
	return d, from, nil
}

// enough says what runs to compare lack.
func enough(seeds []uint64, periods []int) error {
	switch {
	case len(seeds) == 0:
		return fmt.Errorf("%w: no seed is that of a run of each", ErrNoRows)
	case len(periods) == 0:
		return fmt.Errorf("%w: there are %d common seeds, but no period at which all their runs have rows; pieces of "+
			"a study may have been exported at other periods: export them again", ErrNoRows, len(seeds))
	}
	return nil
}

// PairedContrast is the mean of (A - B) - (C - D) over the seeds that all four entries have: a Difference without a
// Ratio.
func PairedContrast(rows []Row, a, b, c, d int) (Difference, error) {
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
	for _, h := range of {
		out.Diverged += h.diverged(out.Period, seeds)
	}
	return out, nil
}

// subtract fills in the mean of a minus b.
func (d *Difference) subtract(a, b []float64) {
	differences := floats.SubTo(make([]float64, len(a)), a, b)
	d.Mean, d.Share = MeanDifference(differences), Float(math.NaN())
	if sum := stat.Mean(differences, nil) * float64(len(differences)); sum != 0 {
		d.Share = Float(max(slices.Max(differences)/sum, slices.Min(differences)/sum))
	}
}

// Regrets are the cumulative regrets of entries at some shares of the last period that all have, each at the last
// common period that is not above it: by share and entry, over the seeds that all have, in order. The error is
// ErrNoRows without these.
func Regrets(rows []Row, shares []float64, entries ...int) (periods []int, regrets [][][]float64, err error) {
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
