package bandit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// play draws the truth of a bandit with the given arms for many runs, and plays one arm in each run, at one period. It
// returns theta [runs, arms], rewards and regrets [runs].
func play(t *testing.T, name string, arms, runs, arm, period int) (theta, reward, regret []float32) {
	t.Helper()
	e := must.M1(backend.Open(name))
	seeds := seedsOf(runs)
	out := must.M1(CallOnceN(e, func(in []*Node) []*Node {
		b, s := &Gaussian{Arms: arms, PriorVariance: 2.25, NoiseVariance: 0.25}, rng.New(in[0]) // 2.25 as in section 4.1
		state := b.Init(s.Named("init"), nil)
		out, _ := b.Step(state, nil, s.At(in[2]), in[2], in[1])
		return []*Node{state["theta"], out.Reward, out.Regret}
	}, seeds, slices.Repeat([]int32{int32(arm)}, runs), int32(period)))
	flat := func(i int) []float32 { return tensors.MustCopyFlatData[float32](out[i]) }
	return flat(0), flat(1), flat(2)
}

func meanAndVariance(v []float64) (mean, variance float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		variance += (x - mean) * (x - mean) / float64(len(v))
	}
	return mean, variance
}

// theta* is N(0, 2.25) and the noise N(0, 0.25), over 20,000 runs: means are within 5 sd/sqrt(n), and variances within
// the fraction 5 sqrt(2/n). The noise is new in the next period, and not correlated with theta*.
func TestGaussianMoments(t *testing.T) {
	notInShort(t)
	const runs = 20_000
	theta, reward, _ := play(t, backend.Go, 2, runs, 1, 3)
	_, later, _ := play(t, backend.Go, 2, runs, 1, 4)
	played, noise, next, both, product := make([]float64, runs), make([]float64, runs), make([]float64, runs),
		make([]float64, runs), make([]float64, runs)
	for i := range runs {
		played[i] = float64(theta[2*i+1])
		noise[i], next[i] = float64(reward[i])-played[i], float64(later[i])-played[i]
		both[i], product[i] = played[i]*noise[i]/0.75, noise[i]*next[i]/0.25 // in units of their standard deviations
	}
	for what, c := range map[string]struct {
		v        []float64
		variance float64
	}{"theta": {played, 2.25}, "noise": {noise, 0.25}, "theta times noise": {both, 1},
		"noise of two periods": {product, 1}} {
		mean, variance := meanAndVariance(c.v)
		if math.Abs(mean) > 5*math.Sqrt(c.variance/runs) {
			t.Errorf("%s has mean %.4f, want 0", what, mean)
		}
		// The variance of a product of two independent normal numbers has a kurtosis of 9: standard error
		// sqrt(8/n).
		if math.Abs(variance/c.variance-1) > 5*math.Sqrt(8.0/runs) {
			t.Errorf("%s has variance %.4f, want %.4f", what, variance, c.variance)
		}
	}
}

// The bound equals the regret of the rule in its proof if rewards have no noise. Stopping later or earlier is not
// better. Exact values are known for one and two arms.
func TestLeastRegret(t *testing.T) {
	notInShort(t)
	draw := rand.New(rand.NewPCG(1, 2))
	// regret returns the regret of an agent that tries new arms until the best arm seen, b, exceeds scale times the
	// threshold of the rule, and then stays with it.
	play := func(arms, periods int, scale float64) float64 {
		best, seen, lost := math.Inf(-1), math.Inf(-1), 0.0
		truth := make([]float64, arms)
		for i := range truth {
			truth[i] = draw.NormFloat64()
			best = max(best, truth[i])
		}
		tried := 0
		for r := periods; r > 0; r-- {
			excess := math.Exp(-seen*seen/2)/math.Sqrt(2*math.Pi) - seen*math.Erfc(seen/math.Sqrt2)/2
			if tried == 0 || tried < arms && float64(r-1)*excess*scale > seen {
				lost += best - truth[tried]
				seen = max(seen, truth[tried])
				tried++
			} else {
				lost += best - seen
			}
		}
		return lost
	}
	for _, c := range []struct{ arms, periods int }{{2, 5}, {10, 10}, {10, 100}, {40, 30}, {100, 300}} {
		least := (&Gaussian{Arms: c.arms, PriorVariance: 1}).LeastRegret(c.periods)
		for _, scale := range []float64{1, 0.1, 10} {
			const runs = 10_000
			regrets := make([]float64, runs)
			for i := range regrets {
				regrets[i] = play(c.arms, c.periods, scale)
			}
			mean, variance := meanAndVariance(regrets)
			within := 5 * math.Sqrt(variance/runs)
			if mean < least-within || scale == 1 && mean > least+within {
				t.Errorf("%d arms, %d periods, thresholds of %v: got regret %.4f +- %.4f, want at least the bound %.4f",
					c.arms, c.periods,
					scale, mean, within, least)
			}
		}
	}
	for _, c := range []struct {
		arms, periods  int
		variance, want float64
	}{
		{1, 100, 1, 0},
		{2, 1, 1, 1 / math.Sqrt(math.Pi)},   // of E[max of 2]
		{2, 1, 4, 2 / math.Sqrt(math.Pi)},   // proportional to sigma_p
		{2, 1e6, 1, 2 / math.Sqrt(math.Pi)}, // each arm once: 2 E[max]
	} {
		if got := (&Gaussian{Arms: c.arms, PriorVariance: c.variance}).LeastRegret(c.periods); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("least regret of %+v: got %v", c, got)
		}
	}
}
