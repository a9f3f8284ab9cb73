package bandit

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// Without drift, the bandit equals the Gaussian bandit to the bit.
func TestDriftingWithoutDrift(t *testing.T) {
	seeds := []uint64{1, 2, 3}
	still := watch(t, backend.Go, &Drifting{Gaussian: Gaussian{Arms: 4, PriorVariance: 2, NoiseVariance: 0.5}}, seeds,
		nil, 8)
	want := watch(t, backend.Go, &Gaussian{Arms: 4, PriorVariance: 2, NoiseVariance: 0.5}, seeds, nil, 8)
	if !reflect.DeepEqual(still, want) {
		t.Error("without drift the world differs from the Gaussian bandit")
	}
}

// The mean rewards, measured without noise, have variance sigma_p^2 in every period, and a correlation of (1-d)^(k/2)
// over k periods: within 5 standard errors over 8,000 runs, which are sqrt(2/n) for a variance and at most 1/sqrt(n)
// for a correlation.
func TestDriftingMoments(t *testing.T) {
	notInShort(t)
	const runs, periods, variance, drift = 8000, 13, 2.0, 0.2
	seeds := seedsOf(runs)
	w := &Drifting{Gaussian: Gaussian{Arms: 2, PriorVariance: variance, NoiseVariance: 1e-12}, Drift: drift}
	histories := watch(t, backend.Go, w, seeds, nil, periods)
	mean := func(h history, period int) float64 { return float64(h.all[period][0]) } // of arm 0, from its reward
	for period := range periods {
		square, both := 0.0, 0.0
		for _, h := range histories {
			now := mean(h, period)
			square, both = square+now*now/runs, both+now*mean(h, 0)/runs
		}
		if math.Abs(square/variance-1) > 5*math.Sqrt(2.0/runs) {
			t.Errorf("period %d: variance %.3f, want %v", period, square, variance)
		}
		// A product of two normal numbers with correlation c has variance 1 + c^2.
		want := math.Pow(1-drift, float64(period)/2)
		if got := both / variance; math.Abs(got-want) > 5*math.Sqrt((1+want*want)/runs) {
			t.Errorf("correlation over %d periods %.3f, want %.3f", period, got, want)
		}
	}
}

func TestDriftingValidate(t *testing.T) {
	if err := NewDrifting().Validate(); err != nil {
		t.Error(err)
	}
	err := (&Drifting{Drift: 1.5}).Validate()
	for _, want := range []string{"arms must be at least 1", "prior-variance", "noise-variance",
		"drift must be from 0 to 1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want also %q", err, want)
		}
	}
	w := &Drifting{Gaussian: Gaussian{Arms: 1, PriorVariance: 1, NoiseVariance: 1}, Drift: math.NaN()}
	if w.Validate() == nil {
		t.Error("drift NaN: got no error")
	}
}
