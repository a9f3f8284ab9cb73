package testbed

import (
	"fmt"
	"math"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/stats"
)

// A negative divergence counts 0, and a divergence that is missing or not finite counts 10^6. Divergences of problems
// that are not in the sweep are ignored.
func TestScoreCounts(t *testing.T) {
	s := Classification2D().Few(1)
	s.Problems = s.Problems[:5] // 0, 10, 20, 30, 40
	got := s.score(map[int]float64{0: -1e-3, 10: 2.5, 20: math.NaN(), 30: math.Inf(1), 7: 3})
	if fmt.Sprint(got.KL) != "[0 2.5 1e+06 1e+06 1e+06]" {
		t.Errorf("divergences count as %v, want [0 2.5 1e+06 1e+06 1e+06]", got.KL)
	}
	if want := (2.5 + 3e6) / 5; math.Abs(got.Mean()-want) > 1e-9*want {
		t.Errorf("mean %v, want %v", got.Mean(), want)
	}
	if !math.IsNaN(got.StdErr()) {
		t.Errorf("a single seed class has the standard error %v", got.StdErr())
	}
}

// The standard error compares the means of seed classes, and does not depend on a setting that changes all classes
// alike. Here classes 0, 1, 2 and 3 have means 1, 2, 3 and 6: the mean is 3, the sum of squares 14, and the standard
// error sqrt(14/3/4).
func TestScoreStdErr(t *testing.T) {
	sweep := Classification2D().Few(4)
	kl, uniform := map[int]float64{}, map[int]float64{}
	for i, p := range sweep.Problems {
		settings := float64(i / 4 % 3) // 0, 1 and 2 in turn, for 21 settings
		kl[p.Number], uniform[p.Number] = []float64{0, 1, 2, 5}[i%4]+settings, 6
	}
	s := sweep.score(kl)
	ratio, se := s.Over(sweep.score(uniform))
	want := math.Sqrt(14.0 / 3 / 4)
	got := []float64{s.Mean(), s.StdErr(), ratio, se}
	near(t, "mean, error, ratio, its error", got, []float64{3, want, 0.5, want / 6}, 1e-12)
}

// An agent with half of another agent's divergence on each problem has a ratio of exactly one half. An agent with other
// divergences has an interval.
func TestScorePaired(t *testing.T) {
	sweep := Classification()
	all, half, other := map[int]float64{}, map[int]float64{}, map[int]float64{}
	for i, p := range sweep.Problems {
		all[p.Number], half[p.Number], other[p.Number] = float64(i+1), float64(i+1)/2, float64(180-i)/2
	}
	e := sweep.score(half).Paired(sweep.score(all))
	near(t, "half", []float64{float64(e.Lower), float64(e.Value), float64(e.Upper)}, []float64{0.5, 0.5, 0.5}, 1e-9)
	e = sweep.score(other).Paired(sweep.score(all))
	if float64(e.Value) != 0.5 || e.Lower > 0.45 || e.Upper < 0.55 {
		t.Errorf("got ratio %v, want 0.5 with an interval", e)
	}
	if want := stats.RatioOfMeans(sweep.score(other).KL, sweep.score(all).KL); e != want {
		t.Errorf("%v, want %v", e, want)
	}
}

// The scores of an agent that halves the divergence of a baseline.
func Example_score() {
	sweep := Classification2D()
	agent, baseline := map[int]float64{}, map[int]float64{}
	for _, p := range sweep.Problems {
		agent[p.Number], baseline[p.Number] = 0.3, 0.6
	}
	ratio, se := sweep.score(agent).Over(sweep.score(baseline))
	fmt.Printf("%.2f %.2f, %.2f of the baseline\n", sweep.score(agent).Mean(), ratio, se)
	// Output: 0.30 0.50, 0.00 of the baseline
}
