package bandit

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// drawNeural draws the truth of a neural bandit for runs with seeds 0, 1, ...: actions [runs, Actions, features] and
// mean rewards [runs, Actions], flat.
func drawNeural(t testing.TB, name string, b *Neural, runs int) (actions, mean []float32) {
	t.Helper()
	if err := b.Validate(); err != nil && len(b.Generator) > 0 { // without hidden layers the formulas are the simplest
		t.Fatal(err)
	}
	e := must.M1(backend.Open(name))
	seeds := seedsOf(runs)
	out := must.M1(CallOnceN(e, func(in []*Node) []*Node {
		state := b.Init(rng.New(in[0]).Named("init"), nil)
		return []*Node{state["actions"], state["mean"]}
	}, seeds))
	if got, want := fmt.Sprint(out[0].Shape().Dimensions, out[1].Shape().Dimensions),
		fmt.Sprint([]int{runs, b.Actions, b.Features}, []int{runs, b.Actions}); got != want {
		t.Fatalf("shapes %s, want %s", got, want)
	}
	return tensors.MustCopyFlatData[float32](out[0]), tensors.MustCopyFlatData[float32](out[1])
}

// Actions have length 1, up to about ten roundings of single precision, and all differ.
func TestNeuralActionsAreOnTheSphere(t *testing.T) {
	const actions, features, runs = 7, 5, 300
	x, _ := drawNeural(t, backend.Go, &Neural{Actions: actions, Features: features, Generator: []int{2}}, runs)
	seen := map[float32]bool{}
	for at := 0; at < len(x); at += features {
		norm := 0.0
		for _, v := range x[at : at+features] {
			norm += float64(v) * float64(v)
		}
		if math.Abs(norm-1) > 2e-6 || seen[x[at]] {
			t.Fatalf("action %d is %v, want length 1; seen before: %v", at/features, x[at:at+features], seen[x[at]])
		}
		seen[x[at]] = true
	}
}

// The generator 20-3-3-1 of section 4.2 has variances 2.25 for the 20*3 weights of the first layer, 2.25/3 for the 9
// and 3 weights of later layers, and 1 for the biases of 3, 3 and 1 units.
func TestNeuralVariances(t *testing.T) {
	want := slices.Concat(slices.Repeat([]float64{2.25}, 60), []float64{1, 1, 1}, slices.Repeat([]float64{0.75}, 9),
		[]float64{1, 1, 1, 0.75, 0.75, 0.75, 1})
	got := NewNeural().Problem().Truth.StdDev
	if len(got) != len(want) {
		t.Fatalf("%d deviations, want %d", len(got), len(want))
	}
	for i, sd := range got {
		if math.Abs(sd*sd-want[i]) > 1e-12 {
			t.Errorf("variance %v of parameter %d, want %v", sd*sd, i, want[i])
		}
	}
}

// A mean reward has mean 0 and variance RewardVariance. By hand, a unit has variance 3.25, and each hidden layer
// multiplies the variance by 2.25/2 and adds 1. The mean and the mean square over runs are within 5 of their standard
// errors in the sample.
func TestNeuralRewardVariance(t *testing.T) {
	notInShort(t)
	const runs = 20_000
	for _, c := range []struct {
		layers []int // all layers except for the output
		want   float64
	}{{[]int{4}, 3.25}, {[]int{4, 6}, 4.65625}, {[]int{20, 3, 3}, 6.23828125}} {
		b := &Neural{Actions: 1, Features: c.layers[0], Generator: c.layers[1:]}
		if got := b.RewardVariance(); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: RewardVariance %v, want %v", c.layers, got, c.want)
		}
		_, mean := drawNeural(t, backend.Go, b, runs)
		f, square := make([]float64, runs), make([]float64, runs)
		for i, v := range mean {
			f[i], square[i] = float64(v), float64(v)*float64(v)
		}
		within(t, fmt.Sprint(c.layers, " f"), f, 0)
		within(t, fmt.Sprint(c.layers, " f^2"), square, c.want)
	}
}

// The distributions of each layer's weights and biases appear in the covariance of the mean rewards of two actions.
// Units have covariance c = 2.25 x^T x' + 1 before their ReLU. Given c, the ReLUs of a unit have E = 3.25 (sin a + (pi
// - a) cos a) / (2 pi) with cos a = c/3.25 (Cho and Saul 2009), and the mean rewards have 2.25 E + 1; without a hidden
// layer they have c. The products are compared in the mean, and weighted by x^T x' and by its square.
func TestNeuralCovariance(t *testing.T) {
	notInShort(t)
	const runs, features = 20_000, 3
	for _, hidden := range [][]int{nil, {4}} {
		x, mean := drawNeural(t, backend.Go, &Neural{Actions: 2, Features: features, Generator: hidden}, runs)
		excess := [3][]float64{}
		for i := range runs {
			alike := 0.0
			for j := range features {
				alike += float64(x[2*i*features+j]) * float64(x[(2*i+1)*features+j])
			}
			want := 2.25*alike + 1
			if len(hidden) > 0 {
				a := math.Acos(want / 3.25)
				want = 2.25*3.25*(math.Sin(a)+(math.Pi-a)*math.Cos(a))/(2*math.Pi) + 1
			}
			d := float64(mean[2*i])*float64(mean[2*i+1]) - want
			for k := range excess {
				excess[k] = append(excess[k], d*math.Pow(alike, float64(k)))
			}
		}
		for k := range excess {
			within(t, fmt.Sprintf("%v: f(x) f(x') less its expectation, times (x^T x')^%d", hidden, k), excess[k], 0)
		}
	}
}

// within reports a sample mean that is more than 5 standard errors off.
func within(t *testing.T, what string, v []float64, want float64) {
	t.Helper()
	mean, variance := meanAndVariance(v)
	if se := math.Sqrt(variance / float64(len(v))); math.Abs(mean-want) > 5*se {
		t.Errorf("%s: mean %.4f +- %.4f, want %.4f", what, mean, se, want)
	}
}

// The noise differs in the next period, and has the given standard deviation: 0.5 here, and 0 in the last run. The mean
// of 400 squares is accurate to sqrt(2/400).
func TestNeuralNoise(t *testing.T) {
	const runs = 401
	b := &Neural{Actions: 4, Features: 3, Generator: []int{2}}
	_, mean := drawNeural(t, backend.Go, b, runs)
	sd := slices.Repeat([]float32{0.5}, runs)
	sd[runs-1] = 0
	step := must.M1(NewExec(must.M1(backend.Open(backend.Go)), func(in []*Node) []*Node {
		s, n := rng.New(in[0]), hyper.Numbers{"Noise": in[3]}
		out, _ := b.Step(b.Init(s.Named("init"), n), n, s.At(in[1]), in[1], in[2])
		return []*Node{out.Reward}
	}))
	noise := func(period int32) (w []float64) {
		for run, reward := range tensors.MustCopyFlatData[float32](must.M1(step.Call(seedsOf(runs), period,
			make([]int32, runs), sd))[0]) {
			w = append(w, float64(reward-mean[run*b.Actions]))
		}
		return w
	}
	now, next := noise(3), noise(4)
	if now[runs-1] != 0 {
		t.Errorf("run without noise: got noise %g", now[runs-1])
	}
	both, product := 0.0, 0.0
	for i := range runs - 1 {
		both, product = both+now[i]*now[i]/0.25/(runs-1), product+now[i]*next[i]/0.25/(runs-1)
	}
	if math.Abs(both-1) > 5*math.Sqrt(2.0/(runs-1)) || math.Abs(product) > 5/math.Sqrt(runs-1) {
		t.Errorf("the noise has %.3f times the right variance, and a correlation of %.3f between periods",
			both, product)
	}
}

// All faults are reported together.
func TestNeuralValidate(t *testing.T) {
	for want, b := range map[string]*Neural{
		"actions must be at least 1, got 0":                      {Features: 3, Generator: []int{2}},
		"features must be at least 1, got 0":                     {Actions: 2, Generator: []int{2}},
		"generator needs hidden layers":                          {Actions: 2, Features: 3},
		"generator: base.MLP: Layers must be positive widths, g": {Actions: 2, Features: 3, Generator: []int{0}},
		"noise must be finite and not negative, got -1":          {Actions: 2, Features: 3, Generator: []int{2}, Noise: -1},
	} {
		if err := b.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", b, err, want)
		}
	}
	err := (&Neural{Noise: math.NaN()}).Validate()
	for _, want := range []string{"actions", "features", "generator", "noise"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want also %q", err, want)
		}
	}
}

// The mean rewards of section 4.2 have a standard deviation of about 2.5.
func ExampleNeural_RewardVariance() {
	fmt.Printf("%.3f\n", NewNeural().RewardVariance())
	// Output: 6.238
}
