package tune

import (
	"fmt"
	"math"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/internal/toys"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Ranks 1 to 4 against 2, 1, 4, 3 have a correlation of 1 - 6 x 4 / (4 x 15) = 0.6. A setting that one round lacks does
// not count.
func TestRankCorrelation(t *testing.T) {
	round := func(means ...float64) (r Rung) {
		for i, m := range means {
			r.Results = append(r.Results, Outcome{Settings: map[string]string{"n": fmt.Sprint(i)}, Mean: stats.Float(m)})
		}
		return r
	}
	search := Search{Rungs: []Rung{round(10, 20, 30, 40, 50), round(7, 5, 9, 8)}}
	r, n := search.RankCorrelation(1)
	toys.Near(t, "correlation", r, 0.6)
	if n != 4 {
		t.Errorf("%d settings, want 4", n)
	}
	search.Rungs[1] = round(7)
	if r, n := search.RankCorrelation(1); !math.IsNaN(r) || n != 1 {
		t.Errorf("of one setting: %v of %d", r, n)
	}
}
