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
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// bisect lists, by recursion, the sublists [from, to) with at least two elements that bisecting [from, to) makes.
func bisect(from, to int) (out [][2]int) {
	middle := from + (to-from)/2
	for _, half := range [][2]int{{from, middle}, {middle, to}} {
		if half[1]-half[0] >= 2 {
			out = append(append(out, half), bisect(half[0], half[1])...)
		}
	}
	return out
}

// Bisection makes N - 2 sublists, also if N is not a power of two. Each occurs once, and the longest comes first.
// The rows of Actions are therefore the N one-hot vectors, and then rows with a half on each sublist.
func TestOneSparseSublists(t *testing.T) {
	for _, n := range []int{2, 3, 4, 5, 7, 8, 50, 200} {
		b := &OneSparse{Size: n}
		sublists := b.Sublists()
		for i := 1; i < len(sublists); i++ {
			// Lists of one level have lengths that differ by at most one.
			if a, b := sublists[i-1], sublists[i]; b[1]-b[0] > a[1]-a[0]+1 {
				t.Errorf("N = %d: sublist %v comes before the longer %v", n, a, b)
			}
		}
		compare := func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }
		if got, want := slices.SortedFunc(slices.Values(sublists), compare),
			slices.SortedFunc(slices.Values(bisect(0, n)), compare); len(got) != n-2 || !slices.Equal(got, want) {
			t.Errorf("N = %d: %d sublists %v, want %v", n, len(got), got, want)
		}
		actions := b.Actions()
		if len(actions) != 2*n-2 {
			t.Fatalf("N = %d: got %d actions, want 2N - 2", n, len(actions))
		}
		for i, x := range actions {
			from, to, value := i, i+1, float32(1)
			if i >= n {
				from, to, value = sublists[i-n][0], sublists[i-n][1], 0.5
			}
			want := make([]float32, n)
			for j := from; j < to; j++ {
				want[j] = value
			}
			if !slices.Equal(x, want) {
				t.Errorf("N = %d: action %d is %v, want %v", n, i, x, want)
			}
		}
	}
}

// By hand: (1 2 3 4 5 6 7) is (1 2 3) and (4 5 6 7), then (2 3), and (4 5) and (6 7).
func ExampleOneSparse_Sublists() {
	fmt.Println((&OneSparse{Size: 7}).Sublists())
	fmt.Println((&OneSparse{Size: 3}).Actions())
	// Output:
	// [[0 3] [3 7] [1 3] [3 5] [5 7]]
	// [[1 0 0] [0 1 0] [0 0 1] [0 0.5 0.5]]
}

// playOneSparse draws the truth of runs with seeds 0, 1, ..., and plays one action in all of them, at one period, with
// noise of deviation sd.
func playOneSparse(t *testing.T, name string, n, runs, action, period int, sd float32) (actions, mean, reward,
	regret []float32) {
	t.Helper()
	e := must.M1(backend.Open(name))
	seeds := seedsOf(runs)
	out := must.M1(CallOnceN(e, func(in []*Node) []*Node {
		b, s := &OneSparse{Size: n, NoiseVariance: 1}, rng.New(in[0])
		state := b.Init(s.Named("init"), nil)
		numbers := hyper.Numbers{"NoiseFactor": Square(in[3])}
		out, _ := b.Step(state, numbers, s.At(in[1]), in[1], in[2])
		return []*Node{state["actions"], state["mean"], out.Reward, out.Regret}
	}, seeds, int32(period), slices.Repeat([]int32{int32(action)}, runs), slices.Repeat([]float32{sd}, runs)))
	if got, want := fmt.Sprint(out[0].Shape().Dimensions, out[1].Shape().Dimensions),
		fmt.Sprint([]int{runs, 2*n - 2, n}, []int{runs, 2*n - 2}); got != want {
		t.Fatalf("shapes %s, want %s", got, want)
	}
	flat := func(i int) []float32 { return tensors.MustCopyFlatData[float32](out[i]) }
	return flat(0), flat(1), flat(2), flat(3)
}

// theta* is a one-hot vector, which the mean rewards of the first N actions show; the others are x^T theta*. All
// components are equally likely: the chi-squared test over 10,000 seeds rejects at a probability of 1e-6.
func TestOneSparseTruth(t *testing.T) {
	notInShort(t)
	const runs = 10_000
	for _, n := range []int{2, 7, 12} {
		b := &OneSparse{Size: n}
		_, mean, _, _ := playOneSparse(t, backend.Go, n, runs, 0, 0, 0)
		count := make([]float64, n)
		for run := range runs {
			got := mean[run*(2*n-2):][:2*n-2]
			m := slices.Index(got, 1)
			if m < 0 || m >= n {
				t.Fatalf("N = %d, run %d: got mean rewards %v, want a one-hot vector", n, run, got)
			}
			count[m]++
			for i, x := range b.Actions() {
				if got[i] != x[m] {
					t.Fatalf("N = %d, run %d: mean reward %v of action %d, want %v", n, run, got[i], i, x[m])
				}
			}
		}
		chi, expected := 0.0, float64(runs)/float64(n)
		for _, c := range count {
			chi += (c - expected) * (c - expected) / expected
		}
		if p := (distuv.ChiSquared{K: float64(n - 1)}).Survival(chi); p < 1e-6 {
			t.Errorf("N = %d: components drawn %v times, want about %.1f: p = %.1g", n, count, expected, p)
		}
	}
}

// Four components, with sublists (1 2) and (3 4). By hand, the regret is 0 for theta* itself, 1/2 for the sublist that
// contains it, and 1 otherwise. Without noise the reward is 1 minus the regret. The actions are the same in every run.
func TestOneSparseStep(t *testing.T) {
	const n, runs = 4, 40
	b := &OneSparse{Size: n}
	for x := range 2*n - 2 {
		actions, mean, reward, regret := playOneSparse(t, backend.Go, n, runs, x, 3, 0)
		if want := slices.Concat(slices.Repeat(b.Actions(), runs)...); !slices.Equal(actions, want) {
			t.Errorf("actions %v, want %v", actions, want)
		}
		for run := range runs {
			m := slices.Index(mean[run*(2*n-2):][:n], 1)
			want := float32(1)
			switch {
			case x == m:
				want = 0
			case x >= n && x-n == m/2:
				want = 0.5
			}
			if regret[run] != want || reward[run] != 1-want {
				t.Errorf("theta* = %d, action %d: regret %v, reward %v, want %v and %v",
					m, x, regret[run], reward[run], want,
					1-want)
			}
		}
	}
}

// The noise differs in the next period and run, and has the given deviation: the mean of
// 400 squares is accurate to a relative sqrt(2/400), and a correlation of 400 pairs to sqrt(1/400).
func TestOneSparseNoise(t *testing.T) {
	const n, runs, sd = 3, 400, 0.25
	noise := func(action, period int) (w []float64) {
		_, mean, reward, _ := playOneSparse(t, backend.Go, n, runs, action, period, sd)
		for run := range runs {
			w = append(w, float64(reward[run]-mean[run*(2*n-2)+action])/sd)
		}
		return w
	}
	first, next := noise(0, 5), noise(0, 6)
	square, periods, neighbours := 0.0, 0.0, 0.0
	for i, w := range first {
		square, periods, neighbours = square+w*w/runs, periods+w*next[i]/runs, neighbours+w*first[(i+1)%runs]/runs
	}
	if bound := 5 * math.Sqrt(2.0/runs); math.Abs(square-1) > bound || math.Abs(periods) > bound ||
		math.Abs(neighbours) > bound {
		t.Errorf("the noise has %.3f times the right variance, correlations of %.3f between periods and %.3f "+
			"between runs",
			square, periods, neighbours)
	}
}

func TestOneSparseValidate(t *testing.T) {
	for n, want := range map[int]string{-1: "size must be at least 2, got -1", 0: "got 0",
		1: "size must be at least 2, got 1", 2: "", 3: "", 1e5: "at most 2147483647 are possible",
		1e11: "at most 2147483647 are possible"} {
		err := (&OneSparse{Size: n, NoiseVariance: 1}).Validate()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("N = %d: error %v, want %q", n, err, want)
		}
	}
}
