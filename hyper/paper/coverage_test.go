package paper_test

import (
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// Intervals hold the true number in 93 to 97 of 100 cases, on average over the comparisons that claims make, with 24, 60
// and 100 runs: where the committed runs of both sides are the whole population, and samples are drawn from it. Single
// comparisons in which one run in thirty has most of the regret are covered less, as they must be: a sample that misses
// that run cannot tell of it.
func TestCoverage(t *testing.T) {
	populations := comparedRegrets(t)
	if len(populations) < 30 {
		t.Fatalf("%d comparisons have committed runs, want 30 or more", len(populations))
	}
	random := rand.New(rand.NewPCG(5, 6))
	const samples = 150
	for _, runs := range []int{24, 60, 100} {
		var ratio, difference, mean float64
		worst := 1.0
		for _, p := range populations {
			whole := must.M1(lab.PairedDifference(p, 0, 1))
			n := len(p) / 2
			var covered [3]float64
			for range samples {
				var sample []lab.Row
				var one []float64
				for i := range runs {
					at := random.IntN(n)
					for side := range 2 {
						row := p[at+side*n]
						row.Seed = uint64(i)
						sample = append(sample, row)
					}
					one = append(one, p[at].Counted())
				}
				d := must.M1(lab.PairedDifference(sample, 0, 1))
				for k, c := range []struct {
					e     lab.Estimate
					truth float64
				}{
					{d.Ratio, float64(whole.Ratio.Value)}, {d.Mean, float64(whole.Mean.Value)},
					{lab.MeanRegret(one), meanOf(p[:n])},
				} {
					if float64(c.e.Lower) <= c.truth && c.truth <= float64(c.e.Upper) {
						covered[k] += 1.0 / samples
					}
				}
			}
			ratio, difference, mean = ratio+covered[0], difference+covered[1], mean+covered[2]
			worst = min(worst, covered[0], covered[1], covered[2])
		}
		for kind, sum := range map[string]float64{"ratios": ratio, "differences": difference, "means": mean} {
			share := sum / float64(len(populations))
			t.Logf("%d runs: intervals of %s cover %.3f; of the worst comparison %.2f", runs, kind, share, worst)
			if share < 0.93 || share > 0.97 {
				t.Errorf("%d runs: intervals of %s cover %.3f, want 0.93 to 0.97", runs, kind, share)
			}
		}
	}
}

// comparedRegrets returns, for each claim that compares two agents and has committed results, the last rows of the seeds
// that both have: those of the first, then those of the second.
func comparedRegrets(t *testing.T) (all [][]lab.Row) {
	for _, name := range paper.Order {
		pieces := must.M1(filepath.Glob(filepath.Join("../../notebooks/results", name, "*.gz")))
		if len(pieces) == 0 || name == "frontier" {
			continue
		}
		h, rows, err := lab.ReadStudy(paper.Known, pieces...)
		if err != nil {
			t.Fatal(err)
		}
		x := paper.Known[name]
		for _, claim := range x.Claims {
			for _, size := range append([]lab.Size{claim.Full}, claim.Smaller...) {
				var sides []map[uint64]lab.Row
				from := lab.FromStudy(x, h, rows)
				_, err := claim.Test(func(agents, sets []string, size lab.Size) (lab.Header, []lab.Row, error) {
					h, rows, err := from(agents, sets, size)
					last := map[uint64]lab.Row{}
					for _, row := range rows {
						if row.Period == size.Periods {
							row.Entry = len(sides)
							last[row.Seed] = row
						}
					}
					sides = append(sides, last)
					return h, rows, err
				}, size)
				if err != nil || len(sides) != 2 {
					continue
				}
				var first, second []lab.Row
				for _, seed := range slices.Sorted(maps.Keys(sides[0])) {
					if other, ok := sides[1][seed]; ok {
						first, second = append(first, sides[0][seed]), append(second, other)
					}
				}
				all = append(all, append(first, second...))
				break
			}
		}
	}
	return all
}

func meanOf(rows []lab.Row) (mean float64) {
	for _, r := range rows {
		mean += r.Counted() / float64(len(rows))
	}
	return mean
}
