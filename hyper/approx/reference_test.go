package approx

import (
	"math"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

func TestLevelsAndQuantiles(t *testing.T) {
	for _, r := range references {
		for _, u := range []float64{0.001, 0.3, 0.5, 0.9} {
			if got := r.level(r.at(u)); math.Abs(got-u) > 1e-12 {
				t.Errorf("%s: the quantile at %v has the level %v", r, u, got)
			}
		}
	}
	if q := Uniform.normal(0.975); math.Abs(q-1.959963984540054) > 1e-12 { // from a table
		t.Errorf("quantile at 0.975: got %v, want 1.96", q)
	}
	if err := Reference("sphere").Validate(); err == nil {
		t.Error("unknown reference: got no error")
	}
}

// The index distribution and the draws on the host have the same distribution: means 1/2 and 0, variances 1/12 and 1.
func TestDrawsHaveTheReferencesMoments(t *testing.T) {
	const n, k = 20_000, 3
	for r, want := range map[Reference][2]float64{Uniform: {0.5, 1.0 / 12}, Gaussian: {0, 1}} {
		fresh := must.M1(Indices(backend.Go, r, k, 1, "test", 0, n))
		for name, z := range map[string][][]float64{"host": draws(r, source(1, "test"), n, k), "index": fresh} {
			var sum, sum2 float64
			for _, row := range z {
				for _, v := range row {
					sum, sum2 = sum+v, sum2+v*v
				}
			}
			mean := sum / n / k
			variance := sum2/n/k - mean*mean
			if math.Abs(mean-want[0]) > 0.02 || math.Abs(variance/want[1]-1) > 0.02 {
				// 4 standard errors of 60,000 draws
				t.Errorf("%s, %s: got mean %.4f and variance %.4f", r, name, mean, variance)
			}
		}
		mean, second := r.index(k).Moments().Mean, r.index(k).Moments().Second
		if math.Abs(mean-want[0]) > 1e-12 || math.Abs(second-mean*mean-want[1]) > 1e-12 {
			t.Errorf("%s: got moments %v and %v", r, mean, second)
		}
	}
}
