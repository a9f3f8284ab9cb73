package testbed

import (
	"fmt"
	"math"
	"testing"
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
	kl := map[int]float64{}
	for i, p := range sweep.Problems {
		settings := float64(i / 4 % 3) // 0, 1 and 2 in turn, for 21 settings
		kl[p.Number] = []float64{0, 1, 2, 5}[i%4] + settings
	}
	s := sweep.score(kl)
	near(t, "mean and error", []float64{s.Mean(), s.StdErr()}, []float64{3, math.Sqrt(14.0 / 3 / 4)}, 1e-12)
}
