package bandit

import (
	"math"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Mean rewards of unit vectors are 0.01 times a chi-squared number with d degrees of freedom: mean 0.01 d, variance
// 0.0002 d. All actions are offered equally often, and no action twice in a period. Bounds are five standard errors
// over 4,000 runs of one action each, and over 4,000 draws of 3 among 9 actions.
func TestQuadraticActions(t *testing.T) {
	notInShort(t)
	const runs, actions, offered, features = 4000, 9, 3, 20
	seeds := seedsOf(runs)
	w := &Quadratic{Actions: actions, Offered: offered, Features: features, NoiseVariance: 1}
	out := must.M1(CallOnceN(must.M1(backend.Open(backend.Go)), func(in []*Node) []*Node {
		s := rng.New(in[0])
		state := w.Init(s.Named("init"), nil)
		o, next := w.Offer(state, nil, s.Named("offer"), nil)
		return []*Node{state["actions"], state["means"], o.X, next["mean"]}
	}, seeds))
	of := func(i int) []float32 { return tensors.MustCopyFlatData[float32](out[i]) }
	all, means, x, mean := of(0), of(1), of(2), of(3)
	var sum, square float64
	count := make([]float64, actions)
	for run := range runs {
		m := float64(means[run*actions])
		sum, square = sum+m/runs, square+(m-0.01*features)*(m-0.01*features)/runs
		var places []int
		for i := range offered {
			input := x[(run*offered+i)*features:][:features]
			for a := range actions {
				if slices.Equal(input, all[(run*actions+a)*features:][:features]) {
					places = append(places, a)
					if mean[run*offered+i] != means[run*actions+a] {
						t.Fatalf("run %d: action %d has the mean reward of another action", run, a)
					}
				}
			}
		}
		slices.Sort(places)
		if len(slices.Compact(slices.Clone(places))) != offered {
			t.Fatalf("run %d: %d different actions were offered, want %d", run, len(places), offered)
		}
		for _, a := range places {
			count[a]++
		}
	}
	variance := 0.0002 * features
	if math.Abs(sum-0.01*features) > 5*math.Sqrt(variance/runs) || math.Abs(square/variance-1) > 5*math.Sqrt(2.6/runs) {
		t.Errorf("mean rewards have mean %v and variance %v, want %v and %v", sum, square, 0.01*features, variance)
	}
	share := float64(offered) / actions
	for a, n := range count {
		if math.Abs(n/runs-share) > 5*math.Sqrt(share*(1-share)/runs) {
			t.Errorf("action %d was offered in a share of %v of runs, want %v", a, n/runs, share)
		}
	}
}

func TestWrongQuadratic(t *testing.T) {
	for want, f := range map[string]func(w *Quadratic){
		"actions must be at least 1":        func(w *Quadratic) { w.Actions = 0 },
		"offered must divide actions, 1000": func(w *Quadratic) { w.Offered = 2000 },
		"features must be at least 1":       func(w *Quadratic) { w.Features = 0 },
		"noise-variance must be positive":   func(w *Quadratic) { w.NoiseVariance = math.NaN() },
		"features x features would be [":    func(w *Quadratic) { w.Actions, w.Offered, w.Features = 1, 1, 1<<20 },
	} {
		w := NewQuadratic()
		f(w)
		if err := w.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
