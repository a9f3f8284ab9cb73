package bandit

import (
	"math"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// The logits have mean 0 and the variance of the generator's distribution. Let s = 0.774 be the variance of a truncated
// normal number. A unit of the first layer has variance s |x|^2/D + 1/D. A unit of a later layer has s times half of
// the variance before, because units are symmetric about 0 and a ReLU halves their mean square. The difference of two
// outputs has twice as much, divided by rho^2. Over 2,000 runs of 10 actions, which are correlated within a run, the
// standard error is about 3%. Actions are drawn from N(0, I).
func TestNeuralLogisticGenerator(t *testing.T) {
	notInShort(t)
	const s, features, actions, runs, rho = 0.7737, 4, 10, 2000, 1.5
	w := &NeuralLogistic{Actions: actions, Features: features, Generator: []int{6, 5}, Temperature: rho}
	must.M(w.Validate())
	want := 2 * s * (s * (s + 1.0/features) / 2) / 2 / (rho * rho)
	seeds := seedsOf(runs)
	e := must.M1(backend.Open(backend.Go))
	out := must.M1(CallOnceN(e, func(in []*Node) []*Node {
		state := w.Init(rng.New(in[0]), nil)
		p := w.Means(state)
		logits := Sub(Log(p), Log1P(Neg(p)))
		x := state["actions"]
		x.AssertDims(runs, actions, features)
		return []*Node{ReduceAllMean(logits), ReduceAllMean(Square(logits)), ReduceAllMean(x), ReduceAllMean(Square(x))}
	}, seeds))
	got := func(i int) float64 { return float64(tensors.ToScalar[float32](out[i])) }
	if math.Abs(got(0)) > 5*math.Sqrt(want/runs) || math.Abs(got(1)/want-1) > 0.15 {
		t.Errorf("logits have mean %.4f and variance %.4f, want 0 and %.4f", got(0), got(1), want)
	}
	if n := float64(runs * actions * features); math.Abs(got(2)) > 5/math.Sqrt(n) ||
		math.Abs(got(3)-1) > 5*math.Sqrt(2/n) {
		t.Errorf("actions have mean %.4f and variance %.4f, want 0 and 1", got(2), got(3))
	}
}

// In 4,000 periods, an action's rewards are 1 as often as its probability says, within 5 standard errors. Its regret is
// the difference from the best action's probability.
func TestNeuralLogisticRewards(t *testing.T) {
	const periods = 4000
	w := &NeuralLogistic{Actions: 3, Features: 2, Generator: []int{4}, Temperature: 0.3}
	e := must.M1(backend.Open(backend.Go))
	out := must.M1(CallOnceN(e, func(in []*Node) []*Node {
		s := rng.New(in[0]) // one run for each period, with one truth
		one := w.Init(rng.New(in[1]), nil)
		state := State{"mean": BroadcastToDims(w.Means(one), periods, 3)}
		var all []*Node
		for a := range 3 {
			action := BroadcastToDims(Const(s.Graph(), int32(a)), periods)
			o, _ := w.Step(state, nil, s, nil, action)
			all = append(all, ReduceAllMean(o.Reward), ReduceAllMean(o.Regret))
		}
		return append(all, w.Means(one))
	}, seedsOf(periods), []uint64{7}))
	mean := tensors.MustCopyFlatData[float32](out[6])
	best := max(mean[0], mean[1], mean[2])
	for a := range 3 {
		p := float64(mean[a])
		reward, regret := tensors.ToScalar[float32](out[2*a]), tensors.ToScalar[float32](out[2*a+1])
		if math.Abs(float64(reward)-p) > 5*math.Sqrt(p*(1-p)/periods) || math.Abs(float64(regret-(best-mean[a]))) > 1e-5 {
			t.Errorf("action %d: got mean reward %.3f and regret %.3f, but the probabilities are %v",
				a, reward, regret, mean)
		}
	}
}

func TestNeuralLogisticValidate(t *testing.T) {
	for want, w := range map[string]*NeuralLogistic{
		"actions must be at least 1, got 0":                {Features: 1, Generator: []int{1}, Temperature: 1},
		"features must be at least 1, got 0":               {Actions: 1, Generator: []int{1}, Temperature: 1},
		"temperature must be positive and finite, got 0":   {Actions: 1, Features: 1, Generator: []int{1}},
		"generator needs hidden layers, as 50x50":          {Actions: 1, Features: 1, Temperature: 1},
		"generator: base.MLP: Layers must be positive wid": {Actions: 1, Features: 1, Generator: []int{-1}, Temperature: 1},
	} {
		if err := w.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
