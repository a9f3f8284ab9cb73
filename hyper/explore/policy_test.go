package explore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// policies returns all policies of this package, with n functions for each decision.
func policies(t *testing.T, n int) map[string]Policy {
	t.Helper()
	all := map[string]Policy{
		"thompson": Thompson{N: n}, "ids": IDS{N: n}, "ids, candidates": IDS{N: n, OnlyCandidates: true},
		"greedy":  Greedy{N: n},
		"egreedy": EpsilonGreedy{N: n}, "ucb": UCB{N: n}, "top-two": TopTwo{N: n},
	}
	for name, p := range all {
		if p.Samples() != n {
			t.Fatalf("%s: %d functions, want %d", name, p.Samples(), n)
		}
	}
	return all
}

// draw draws n functions over some actions: independent normal numbers. Later actions have a larger mean and a smaller
// deviation.
func draw(r *rand.Rand, n, actions int) [][]float32 {
	f := make([][]float32, n)
	for i := range f {
		f[i] = make([]float32, actions)
		for x := range f[i] {
			f[i][x] = float32(0.3*float64(x) + r.NormFloat64()*(2-float64(x)/float64(actions)))
		}
	}
	return f
}

// Probabilities are not negative, sum to one (up to rounding), and belong to the drawn actions: over 2,500 runs, with
// different functions in each run or with the same 8 functions in another order, the frequencies match the mean of the
// probabilities. The chi-squared test rejects at a probability of 1e-6. It is strict if the functions differ between
// runs, because the variance is then smaller.
func TestActionsHaveTheirProbabilities(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs")
	}
	const runs, n, actions = 2500, 8, 5
	r := rand.New(rand.NewPCG(1, 2))
	fresh, shuffled := make([][][]float32, runs), make([][][]float32, runs)
	one := draw(rand.New(rand.NewPCG(7, 25)), n, actions) // for which IDS plays two actions, with 1/8 and 7/8
	for i := range runs {
		fresh[i], shuffled[i] = draw(r, n, actions), slices.Clone(one)
		r.Shuffle(n, func(a, b int) { shuffled[i][a], shuffled[i][b] = shuffled[i][b], shuffled[i][a] })
	}
	rates := slices.Repeat([]float32{30}, runs)
	for name, p := range policies(t, n) {
		for which, values := range map[string][][][]float32{"fresh": fresh, "shuffled": shuffled} {
			probabilities, action := anneal(backend.Go, p, values, 20, rates)
			var count, mean [actions]float64
			for i, pi := range probabilities {
				sum := 0.0
				for x, q := range pi {
					if !(q >= 0) {
						t.Fatalf("%s: got probabilities %v, want none below 0", name, pi)
					}
					sum, mean[x] = sum+float64(q), mean[x]+float64(q)
				}
				if math.Abs(sum-1) > 1e-6 {
					t.Fatalf("%s: got probabilities %v with sum %v, want 1", name, pi, sum)
				}
				count[action[i]]++
			}
			chi, support := 0.0, 0
			for x, want := range mean {
				if want > 1e-3 {
					chi += math.Pow(count[x]-want, 2) / want
					support++
				} else if count[x] > 0 {
					t.Errorf("%s, %s: action %d of probability 0 was taken %v times", name, which, x, count[x])
				}
			}
			freedom := float64(max(support-1, 1))
			if p := (distuv.ChiSquared{K: freedom}).Survival(chi); p < 1e-6 {
				t.Errorf("%s, %s: got actions %v, want about %.1f: p = %.1g", name, which, count, mean, p)
			}
			certain := name == "ucb" || name == "greedy"
			if which == "shuffled" && certain != (support == 1) {
				t.Errorf("%s: %d actions have a probability above 0, too few for a test of draws", name, support)
			}
		}
	}
}

// Permuted values have permuted probabilities, with more functions than actions or fewer. They differ by the rounding
// of sums in another order, which the weight of a mixture magnifies. Actions are permuted, too, except for those that
// epsilon-greedy draws uniformly.
func TestPermutedActions(t *testing.T) {
	const runs = 100
	for _, c := range []struct{ n, actions int }{{12, 6}, {5, 9}} {
		r := rand.New(rand.NewPCG(3, 4))
		to := r.Perm(c.actions)
		values, permuted := make([][][]float32, runs), make([][][]float32, runs)
		for i := range runs {
			values[i] = draw(r, c.n, c.actions)
			for _, f := range values[i] {
				g := make([]float32, c.actions)
				for x, v := range f {
					g[to[x]] = v
				}
				permuted[i] = append(permuted[i], g)
			}
		}
		rates := slices.Repeat([]float32{30}, runs)
		for name, p := range policies(t, c.n) {
			before, action := anneal(backend.Go, p, values, 20, rates)
			after, moved := anneal(backend.Go, p, permuted, 20, rates)
			for i := range runs {
				for x, want := range before[i] {
					if got := after[i][to[x]]; math.Abs(float64(got-want)) > 1e-6 {
						t.Fatalf("%s, run %d: got probability %v for action %d, and %v when it has number %d",
							name, i, want, x, got, to[x])
					}
				}
				if name != "egreedy" && int(moved[i]) != to[action[i]] {
					t.Fatalf("%s, run %d: action %d of values, %d of permuted ones, want %d",
						name, i, action[i], moved[i],
						to[action[i]])
				}
			}
		}
	}
}

// If all functions agree, the best action is taken with probability 1, whatever the number of functions. So is a single
// action. Epsilon-greedy no longer explores here: c/(c+t) is below the least number of single precision.
func TestNothingToDecide(t *testing.T) {
	for _, n := range []int{1, 2, 30, 41, 100} {
		agreed := [][][]float32{slices.Repeat([][]float32{{0.1, -2, 0.7, 0.69}}, n),
			slices.Repeat([][]float32{{-3, -2.1, -4, -7}}, n)}
		single := [][][]float32{draw(rand.New(rand.NewPCG(5, 6)), n, 1), make([][]float32, n)}
		for i := range n {
			single[1][i] = []float32{0}
		}
		for name, p := range policies(t, n) {
			for want, values := range map[string][][][]float32{"[2 1] [[0 0 1 0] [0 1 0 0]]": agreed,
				"[0 0] [[1] [1]]": single} {
				probabilities, action := anneal(backend.Go, p, values, 1<<30, []float32{1e-37, 1e-37})
				if got := fmt.Sprint(action, probabilities); got != want {
					t.Errorf("%s, %d functions: %s, want %s", name, n, got, want)
				}
			}
		}
	}
}

// Values that are not finite still give an action: the run that diverged continues together with others, whose
// decisions are the same as alone.
func TestValuesThatAreNotFinite(t *testing.T) {
	const n, actions = 4, 3
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	of := func(f ...float32) [][]float32 { return slices.Repeat([][]float32{f}, n) }
	healthy := [][]float32{{1, 2, 0}, {2, 1, 0}, {1, 3, 0}, {0, 1, 5}}
	values := [][][]float32{healthy, of(nan, nan, nan), of(0, nan, 1), of(inf, inf, inf), of(-inf, -inf, -inf),
		of(inf, -inf, nan), of(0, inf, 1),
		{{nan, 0, 0}, {0, 1, 0}, {0, 0, -inf}, {inf, 0, 0}}, {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {nan, nan, nan}}}
	rates := slices.Repeat([]float32{30}, len(values))
	testbackend.ForEach(t, func(t *testing.T, on string) {
		for name, p := range policies(t, n) {
			// XLA takes seconds to compile, and these have the parts of all.
			if on != backend.Go && !slices.Contains([]string{"ids", "ucb", "egreedy"}, name) {
				continue
			}
			probabilities, action := anneal(on, p, values, 20, rates)
			for i, x := range action {
				if x < 0 || x >= actions {
					t.Errorf("%s, values %v: got action %d, which does not exist", name, values[i], x)
				}
			}
			alone, first := anneal(backend.Go, p, values[:1], 20, rates[:1])
			if first[0] != action[0] {
				t.Errorf("%s: got action %d next to diverged runs, %v alone", name, action[0], first)
			}
			for x, want := range alone[0] {
				if got := probabilities[0][x]; math.Abs(float64(got-want)) > 1e-6 { // includes another backend's rounding
					t.Errorf("%s: got probabilities %v next to diverged runs, %v alone", name, probabilities[0], alone)
				}
			}
		}
	})
}

// 0 functions mean a policy's default number.
func TestSamplesOfTheZeroValue(t *testing.T) {
	for p, want := range map[Policy]int{Thompson{}: 1, IDS{}: 100, Greedy{}: 1, EpsilonGreedy{}: 1, UCB{}: 100,
		TopTwo{}: 30} {
		if p.Samples() != want || Validate(p) != nil {
			t.Errorf("%T: %d functions, want %d; error %v", p, p.Samples(), want, Validate(p))
		}
	}
}
