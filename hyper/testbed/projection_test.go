package testbed

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// The projection is exact if all functions are equal. It is also exact for two functions
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
				out = append(out, projection(s, d, Concatenate([]*Node{up, up, up}, 1), nil),
					projection(s, d, Concatenate([]*Node{up, Neg(up)}, 1), nil))
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
