package explore

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/support/exceptions"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// among lets a policy decide in period 20 among the available actions of values [runs, samples, actions]; nil means
// all. Run i has seed i modulo the number of seeds.
func among(name string, p Policy, seeded int, values [][][]float32, there []bool) ([][]float32, []int32) {
	seeds := seedsOf(len(values))
	for i := range seeds {
		seeds[i] %= uint64(seeded)
	}
	return decided(name, p, values, seeds, func(s rng.Stream, _ []*Node) Moment {
		now := Moment{Stream: s, Period: Const(s.Graph(), int32(20))}
		if there != nil {
			now.Available = BroadcastToDims(InsertAxes(Const(s.Graph(), there), 0), len(values), len(there))
		}
		return now
	})
}

// columns returns the given columns of values.
func columns(values [][][]float32, at []int) [][][]float32 {
	out := make([][][]float32, len(values))
	for i := range values {
		for _, f := range values[i] {
			var g []float32
			for _, x := range at {
				g = append(g, f[x])
			}
			out[i] = append(out[i], g)
		}
	}
	return out
}

// Actions that are not available, whether by far the best or not finite, are never taken, have probability 0, and do
// not affect the decision: it is the same as among the available actions alone, action for action, even if it is drawn.
// Only the rounding of probabilities may differ, where sums have more terms. The values of unavailable actions do not
// matter.
func TestDecideAmongThoseThatAreThere(t *testing.T) {
	const runs, n = 60, 8
	masks := [][]bool{
		{false, true, true, false, true, true}, // the first is not available
		{false, false, false, true, false, false},
		{true, true, true, true, true, true},
	}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		for what, p := range policies(t, n) {
			for k, there := range masks {
				// XLA takes seconds to compile, and these have the parts of all.
				if name != backend.Go && (k > 0 || !slices.Contains([]string{"ids", "ucb", "egreedy"}, what)) {
					continue
				}
				r := rand.New(rand.NewPCG(9, uint64(k)))
				values, other := make([][][]float32, runs), make([][][]float32, runs)
				var present []int
				for x, is := range there {
					if is {
						present = append(present, x)
					}
				}
				for i := range runs {
					values[i] = draw(r, n, len(there))
					for _, f := range values[i] {
						g := slices.Clone(f)
						for x, is := range there {
							if !is {
								f[x], g[x] = 50+float32(r.NormFloat64()), []float32{-50, float32(math.NaN()), float32(math.Inf(1))}[x%3]
							}
						}
						other[i] = append(other[i], g)
					}
				}
				probabilities, action := among(name, p, runs, slices.Concat(values, other), there)
				again, same := probabilities[runs:], action[runs:]
				alone, which := among(name, p, runs, columns(values, present), nil)
				for i := range alone {
					if !slices.Equal(probabilities[i], again[i]) || action[i] != same[i] {
						t.Fatalf("%s, available %v: the values of other actions change the probabilities: %v and %v",
							what, there, probabilities[i], again[i])
					}
					if int(action[i]) != present[which[i]] {
						t.Fatalf("%s, available %v: got action %d, and %d without the other actions",
							what, there, action[i], present[which[i]])
					}
					want := make([]float32, len(there))
					for j, x := range present {
						want[x] = alone[i][j]
					}
					for x, is := range there {
						off := math.Abs(float64(probabilities[i][x] - want[x]))
						if !(off <= 1e-6) || !is && probabilities[i][x] != 0 {
							t.Fatalf("%s, available %v: got probabilities %v, and %v without the other actions",
								what, there, probabilities[i], want)
						}
					}
				}
			}
		}
	})
}

// Each run decides among its own actions: with a mask for each run, in a batch as alone.
func TestEachRunHasItsOwnActions(t *testing.T) {
	const runs, n, actions = 64, 8, 5
	r := rand.New(rand.NewPCG(10, 11))
	values, there := make([][][]float32, runs), make([][]bool, runs)
	for i := range values {
		values[i], there[i] = draw(r, n, actions), make([]bool, actions)
		for x := range actions {
			there[i][x] = x == i%actions || r.IntN(2) == 0
		}
	}
	b := must.M1(backend.Open(backend.Go))
	for what, p := range policies(t, n) {
		exec := must.M1(NewExec(b, func(seeds, values, there *Node) (probabilities, action *Node) {
			return Decide(p, values, Moment{Stream: rng.New(seeds), Period: Const(seeds.Graph(), int32(20)), Available: there})
		}))
		seeds := make([]uint64, runs)
		for i := range seeds {
			seeds[i] = uint64(i)
		}
		batch := exec.MustCall(seeds, values, there)
		probabilities, action := batch[0].Value().([][]float32), batch[1].Value().([]int32)
		for i := range runs {
			alone := exec.MustCall(seeds[i:i+1], values[i:i+1], there[i:i+1])
			want, taken := alone[0].Value().([][]float32)[0], alone[1].Value().([]int32)[0]
			if !slices.Equal(probabilities[i], want) || action[i] != taken {
				t.Errorf("%s: run %d: got probabilities %v in a batch, %v alone", what, i, probabilities[i], want)
			}
			sum := float32(0)
			for x, q := range probabilities[i] {
				sum += q
				if q != 0 && !there[i][x] {
					t.Errorf("%s: run %d: got probability %v for an action that is not available", what, i, q)
				}
			}
			if math.Abs(float64(sum-1)) > 1e-6 || !there[i][action[i]] {
				t.Errorf("%s: run %d: probabilities have sum %v; action %d among %v", what, i, sum, action[i], there[i])
			}
		}
	}
}

// Runs of one batch that differ in a policy's numbers decide like runs of policies with these numbers.
func TestNumbersOfEachRun(t *testing.T) {
	type own struct{ Thompson }
	if !IsOrdinal(Thompson{N: 5}) || !IsOrdinal(UCB{}) || !IsOrdinal(Greedy{}) || IsOrdinal(Greedy{N: 2}) ||
		IsOrdinal(IDS{}) || IsOrdinal(own{}) {
		t.Error("wrong policies are ordinal")
	}
	type positive struct {
		A, B float64 `run:"positive"`
	}
	if got := hyper.NumbersOf(positive{A: 2}); len(got) != 1 || got["A"] != 2 {
		t.Errorf("numbers that are positive: got %v, want A alone", got)
	}
	if got := hyper.NumbersOf(EpsilonGreedy{Anneal: 7}); len(got) != 1 || got["Anneal"] != 7 {
		t.Fatalf("got numbers %v for epsilon-greedy", got)
	}
	rates := []float32{30, 5, 0.5, 400}
	r := rand.New(rand.NewPCG(12, 13))
	values := make([][][]float32, len(rates))
	for i := range values {
		values[i] = draw(r, 3, 4)
	}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		for _, period := range []int32{0, 5, 11} {
			probabilities, action := anneal(name, EpsilonGreedy{N: 3}, values, period, rates)
			for i, c := range rates {
				alone, which := anneal(name, EpsilonGreedy{N: 3, Anneal: float64(c)}, values, period, nil)
				if !slices.Equal(alone[i], probabilities[i]) || which[i] != action[i] {
					t.Errorf("period %d, c = %v: got %v, want %v as from a policy with this c",
						period, c, probabilities[i], alone[i])
				}
			}
		}
	})
}

// brokenPolicy decides as greedy does, with another result.
type brokenPolicy struct {
	Greedy
	broken func(probabilities, action *Node) (*Node, *Node)
}

func (p brokenPolicy) Decide(values *Node, now Moment) (probabilities, action *Node) {
	return p.broken(p.Greedy.Decide(values, now))
}

// An error names the policy that returned a wrong result, whether or not all actions are available.
func TestPoliciesThatDoNotConform(t *testing.T) {
	for want, broken := range map[string]func(p, a *Node) (*Node, *Node){
		"the first result of Decide of the policy explore.brokenPolicy is missing": func(_, a *Node) (*Node, *Node) {
			return nil, a
		},
		"the second result of Decide of the policy explore.brokenPolicy has the shape (Int32)[1, 1], want (Int32)[1]": func(p,
			a *Node) (*Node, *Node) {
			return p, InsertAxes(a, -1)
		},
	} {
		for _, there := range [][]bool{nil, {true, false}} {
			err := exceptions.TryCatch[error](func() {
				among(backend.Go, brokenPolicy{broken: broken}, 1, [][][]float32{{{1, 2}}}, there)
			})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want %s", err, want)
			}
		}
	}
}
