package explore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// gaps returns the probabilities of SquareCB in plain Go, among the available actions; nil means all.
func gaps(values [][]float32, there []bool, gamma float64) []float64 {
	actions := len(values[0])
	f, best, count := make([]float64, actions), -1, 0.0
	is := func(x int) bool { return there == nil || there[x] }
	for x := range f {
		for _, g := range values {
			f[x] += float64(g[x]) / float64(len(values))
		}
		if is(x) {
			count++
			if best < 0 || f[x] > f[best] {
				best = x
			}
		}
	}
	p, rest := make([]float64, actions), 1.0
	for x := range f {
		if is(x) && x != best {
			p[x] = 1 / (count + gamma*(f[best]-f[x]))
			rest -= p[x]
		}
	}
	p[best] = rest
	return p
}

// Probabilities agree with the formula, with all actions and with some, and actions are drawn with these probabilities:
// over 3,000 runs with the same values, within 5 binomial standard errors. Unavailable actions are never taken.
func TestSquareCB(t *testing.T) {
	const runs, n, actions = 3000, 4, 6
	r := rand.New(rand.NewPCG(21, 22))
	testbackend.ForEach(t, func(t *testing.T, name string) {
		for _, there := range [][]bool{nil, {false, true, true, false, true, true}, {2: true, 5: false}} {
			for given, gamma := range map[float64]float64{0: 100, 2: 2} {
				if name != backend.Go && (there == nil || !there[1] || given == 0) { // XLA takes seconds to compile
					continue
				}
				one := draw(r, n, actions)
				for x, is := range there {
					for i := range one {
						if !is {
							one[i][x] = float32(math.NaN())
						}
					}
				}
				values := make([][][]float32, runs)
				for i := range values {
					values[i] = one
				}
				probabilities, action := among(name, SquareCB{N: n, Gamma: given}, runs, values, there)
				want := gaps(one, there, gamma)
				var count [actions]float64
				for i := range runs {
					count[action[i]]++
					for x, p := range probabilities[i] {
						if !(math.Abs(float64(p)-want[x]) <= 1e-5) { // rounding of means, times gamma
							t.Fatalf("gamma %v, there %v: probabilities %v, want %v",
								gamma, there, probabilities[i], want)
						}
					}
				}
				for x, p := range want {
					if share := count[x] / runs; math.Abs(share-p) > 5*math.Sqrt(p*(1-p)/runs)+1e-9 {
						t.Errorf("gamma %v, there %v: action %d in %.4f of the runs, want %.4f",
							gamma, there, x, share, p)
					}
				}
			}
		}
	})
}

// Among equal actions the lowest counts as the best. Each run of a batch has its own gamma. 0 functions mean 30.
func TestSquareCBNumbers(t *testing.T) {
	if p := (SquareCB{}); p.Samples() != 30 || Validate(p) != nil || len(hyper.NumbersOf(p)) != 1 {
		t.Errorf("zero value: got %d functions, error %v, numbers %v, want 30, none and gamma",
			p.Samples(), Validate(p), hyper.NumbersOf(p))
	}
	for _, p := range []SquareCB{{N: -1}, {Gamma: -1}, {Gamma: math.NaN()}, {Gamma: math.Inf(1)}} {
		if Validate(p) == nil {
			t.Errorf("invalid policy %+v is accepted", p)
		}
	}
	probabilities, _ := among(backend.Go, SquareCB{Gamma: 8}, 1, [][][]float32{{{1, 2, 2, 1.5}}}, nil)
	if got := fmt.Sprintf("%.4f", probabilities); got != "[[0.0833 0.5417 0.2500 0.1250]]" { // 1/12, the rest, 1/4, 1/8
		t.Error(got)
	}
}

// The mean of action 0 is larger by 1: action 1 has probability 1/(2 + gamma).
func ExampleSquareCB() {
	for _, gamma := range []float64{2, 8} {
		probabilities, _ := anneal(backend.Go, SquareCB{Gamma: gamma}, [][][]float32{{{3, 2}}}, 0, nil)
		fmt.Printf("%.2f\n", probabilities)
	}
	// Output:
	// [[0.75 0.25]]
	// [[0.90 0.10]]
}
