package testbed

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// For 1000 functions with independent log odds, each the difference of two standard normal logits, the projection is
// within 25% of the logarithm of their mean likelihood at tau = 10. The testbed's own test has the same tolerance;
// there, too, one of the functions draws the classes.
func TestProjectionIsNearBruteForce(t *testing.T) {
	const batches, functions = 12, 1000
	testbackend.ForEach(t, func(t *testing.T, name string) {
		for _, distinct := range []int{10, 2} {
			args, f := counts(rand.New(rand.NewPCG(3, uint64(distinct))), 1, batches, distinct, 10, functions, math.Sqrt2)
			brute := logMean(byHand(args, f, 1, batches, distinct, functions)[0], slices.Repeat([]float64{1}, functions))
			out := eval(t, name, func(in []*Node) []*Node {
				return []*Node{projection{}.LogLikelihood(rng.New(in[4]), given(in), in[3], nil)}
			}, append(args, []uint64{1})...)[0]
			worst := 0.0
			for i, want := range brute {
				worst = max(worst, math.Abs(out[i]-want)/-want)
			}
			t.Logf("%d inputs: off by at most %.0f%%", distinct, 100*worst)
			if worst > 0.25 {
				t.Errorf("%d inputs: got %.3v, and %.3v by brute force", distinct, out, brute)
			}
		}
	})
}

// The projection is exact, for any number of planes, if all functions are equal. It is also exact for two functions
// that contradict each other, if one of 7 planes separates them, which is nearly always the case. Probabilities are
// clipped at probits of +-5.
func TestProjectionIsExact(t *testing.T) {
	const batches = 200
	testbackend.ForEach(t, func(t *testing.T, name string) {
		args, _ := counts(rand.New(rand.NewPCG(5, 0)), 1, batches, 2, 10, 1, 1)
		sizes := []float32{1, 3, 100}
		out := eval(t, name, func(in []*Node) []*Node {
			d, s := given(in), rng.New(in[4])
			f := Mul(OnesLike(InsertAxes(d.Truth, 1)), InsertAxes(in[5], -1)) // [1, sizes, batches * distinct]
			var out []*Node
			for i := range sizes {
				up := Slice(f, AxisRange(), AxisElem(i))
				out = append(out, projection{Planes: 3}.LogLikelihood(s, d, Concatenate([]*Node{up, up, up}, 1), nil),
					projection{}.LogLikelihood(s, d, Concatenate([]*Node{up, Neg(up)}, 1), nil))
			}
			return append(out, d.Ones)
		}, append(args, []uint64{1}, [][]float32{sizes})...)
		for k, size := range sizes {
			p := min(sigmoid(float64(size)), 1-leastProbability)
			right, alike := 0, []float64{}
			for i := range batches {
				ones := out[6][2*i] + out[6][2*i+1]
				of := func(ones float64) float64 { return ones*math.Log(p) + (10-ones)*math.Log1p(-p) }
				alike = append(alike, of(ones))
				both := math.Log((math.Exp(of(ones)) + math.Exp(of(10-ones))) / 2)
				if math.Abs(out[2*k+1][i]-both) < 1e-4*(1-both) {
					right++
				}
			}
			near(t, fmt.Sprint("alike, odds of e^", size), out[2*k], alike, 1e-5)
			if right < batches*9/10 {
				t.Errorf("odds of e^%v: %d of %d batches have the likelihood of two cells, want nearly all",
					size, right, batches)
			}
		}
	})
}

// A hundred classes predicted by 200 functions that have nothing in common. With more and more such functions the mean
// approaches a hundred coins. The mean of the 200 is far from it, because the likeliest function dominates, and their
// projection is near.
func Example_projection() {
	b, err := backend.Open(backend.Go)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := CallOnceN(b, func(in []*Node) []*Node {
		s := rng.New(in[0])
		tests := testInputs{Batches: 20, Tau: 100}
		d := tests.Classes(s.Named("classes"), nil, MulScalar(s.Named("truth").Normal(tests.Batches*tests.Tau), 5))
		f := MulScalar(s.Named("f").Normal(200, tests.Batches*tests.Tau), 5)
		m := newMeanLikelihood(f.Graph(), 1, tests.Batches).Accumulate(d.LogLikelihood(f), nil)
		lucky, _ := d.Divergence(m.Mean())
		projected, _ := d.Divergence(projection{}.LogLikelihood(s, d, f, nil))
		uniform, _ := d.Divergence(d.Uniform())
		return []*Node{lucky, projected, uniform}
	}, []uint64{1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.0f %.0f %.0f\n", out[0].Value(), out[1].Value(), out[2].Value())
	// Output: [127] [53] [46]
}
