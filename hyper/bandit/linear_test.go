package bandit

import (
	"fmt"
	"math"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

func init() { testbackend.CompileQuickly() }

// notInShort skips a statistical test in short runs.
func notInShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("not in short runs")
	}
}

// Components of actions have mean 0, and the largest size and the mean square of their set: 1/15 for a uniform
// component within 1/sqrt(5). Over 4,000 runs, the mean rewards of an action have variance sigma_p^2 E |x|^2. Bounds
// are five standard errors: of 80,000 components, and of squares of Gaussian numbers with different lengths, sqrt(2 /
// runs).
func TestLinearActions(t *testing.T) {
	notInShort(t)
	const runs, actions, features, prior = 4000, 4, 5, 2.5
	for set, c := range map[string]struct{ largest, square float64 }{
		ActionsBox: {1 / math.Sqrt(5), 1. / 15}, ActionsFifth: {1 / math.Sqrt(5), 1. / 5},
		ActionsCube: {1 / math.Sqrt(features), 1. / features}, ActionsSphere: {1, 1. / features},
	} {
		e := must.M1(backend.Open(backend.Go))
		seeds := seedsOf(runs)
		w := &Linear{Actions: actions, Features: features, ActionSet: set, PriorVariance: prior, NoiseVariance: 1}
		out := must.M1(CallOnceN(e, func(in []*Node) []*Node {
			state := w.Init(rng.New(in[0]), nil)
			return []*Node{state["actions"], state["mean"]}
		}, seeds))
		x, means := tensors.MustCopyFlatData[float32](out[0]), tensors.MustCopyFlatData[float32](out[1])
		sum, square := 0.0, 0.0
		for _, v := range x {
			sum, square = sum+float64(v), square+float64(v)*float64(v)
			if math.Abs(float64(v)) > c.largest+1e-6 {
				t.Fatalf("%s: got a component of %v, which is too large", set, v)
			}
		}
		n := float64(len(x))
		if math.Abs(sum/n) > 5*math.Sqrt(c.square/n) || math.Abs(square/n/c.square-1) > 5*2/math.Sqrt(n) {
			t.Errorf("%s: components have mean %v and mean square %v, want 0 and %v",
				set, sum/n, square/n, c.square)
		}
		variance := 0.0
		for i := 0; i < len(means); i += actions {
			variance += float64(means[i]) * float64(means[i]) / runs
		}
		if want := prior * features * c.square; math.Abs(variance/want-1) > 5*math.Sqrt(3./runs) {
			t.Errorf("%s: mean rewards have variance %v, want %v", set, variance, want)
		}
	}
}

func TestWrongLinear(t *testing.T) {
	for want, f := range map[string]func(w *Linear){
		"actions must be at least 1":             func(w *Linear) { w.Actions = 0 },
		"features must be at least 1":            func(w *Linear) { w.Features = -1 },
		`action-set: unknown "ball"; choose one`: func(w *Linear) { w.ActionSet = "ball" },
		"prior-variance must be positive":        func(w *Linear) { w.PriorVariance = 0 },
		"actions x features would be [":          func(w *Linear) { w.Actions, w.Features = 1<<20, 1<<20 },
	} {
		w := NewLinear()
		f(w)
		if err := w.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// In an unknown-action bandit the last arm always pays what the state says, and the others pay 0 or 1, equally likely.
// The regret is 1/2 for the arms that are not the best. The share of ones in 10,000 coins is within 0.025, five
// standard errors.
func TestUnknownAction(t *testing.T) {
	notInShort(t)
	const runs = 10_000
	e := must.M1(backend.Open(backend.Go))
	seeds, arms := make([]uint64, runs), make([]int32, runs)
	for i := range seeds {
		seeds[i], arms[i] = uint64(i), int32(i%2*2)
	}
	w := &UnknownAction{Actions: 3}
	out := must.M1(CallOnceN(e, func(in []*Node) []*Node {
		s := rng.New(in[0])
		state := w.Init(s.Named("init"), nil)
		o, _ := w.Step(state, nil, s.Named("step"), in[2], in[1])
		return []*Node{state["pays"], o.Reward, o.Regret, w.Means(state), in[2]}
	}, seeds, arms, int32(0)))
	of := func(i int) []float32 { return tensors.MustCopyFlatData[float32](out[i]) }
	pays, reward, regret, means := of(0), of(1), of(2), of(3)
	ones, paying := 0.0, 0.0
	for i, arm := range arms {
		best := max(pays[i], 0.5)
		if got := fmt.Sprint(means[3*i : 3*i+3]); got != fmt.Sprint([]float32{0.5, 0.5, pays[i]}) {
			t.Fatalf("run %d: got means %s, but the last arm pays %v", i, got, pays[i])
		}
		if regret[i] != best-means[3*i+int(arm)] || arm == 2 && reward[i] != pays[i] {
			t.Fatalf("run %d, arm %d: reward %v, regret %v; the last arm pays %v",
				i, arm, reward[i], regret[i], pays[i])
		}
		paying += float64(pays[i]) / runs
		if arm == 0 {
			ones += float64(reward[i]) / (runs / 2)
		}
	}
	if math.Abs(paying-0.5) > 0.025 || math.Abs(ones-0.5) > 0.036 {
		t.Errorf("the last arm pays in a share %v of the runs, another arm in %v, want 1/2", paying, ones)
	}
}
