package lab

import (
	"fmt"
	"math"
	"testing"
)

// Ranks 1 to 4 against 2, 1, 4, 3 have a correlation of 1 - 6 x 4 / (4 x 15) = 0.6. A setting that one round lacks does
// not count.
func TestRankCorrelation(t *testing.T) {
	round := func(means ...float64) (r Rung) {
		for i, m := range means {
			r.Results = append(r.Results, Outcome{Settings: map[string]string{"n": fmt.Sprint(i)}, Mean: Float(m)})
		}
		return r
	}
	search := Tuning{Rungs: []Rung{round(10, 20, 30, 40, 50), round(7, 5, 9, 8)}}
	r, n := search.RankCorrelation(1)
	toysNear(t, "correlation", r, 0.6)
	if n != 4 {
		t.Errorf("%d settings, want 4", n)
	}
	search.Rungs[1] = round(7)
	if r, n := search.RankCorrelation(1); !math.IsNaN(r) || n != 1 {
		t.Errorf("of one setting: %v of %d", r, n)
	}
}
