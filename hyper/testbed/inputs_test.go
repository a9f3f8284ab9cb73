package testbed

import (
	"fmt"
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Every batch has tau classes. An anchor, one of kappa, has Binomial(tau, 1/kappa) of them: tau/kappa on average, with
// variance tau (1/kappa)(1 - 1/kappa). Without anchors every input has one class. Class 1 has its probability at each
// input.
func TestDraw(t *testing.T) {
	const runs, batches = 3, 400
	e := networkTruth{Inputs: 2}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		for _, tests := range []testInputs{{batches, 10, 0}, {batches, 10, 2}, {batches, 6, 3}, {batches, 1, 2}} {
			out := eval(t, name, func(in []*Node) []*Node {
				s := rng.New(in[0])
				theta := e.Init(s.Named("truth"))
				d := tests.Draw(s.Named("tests"), e, theta, in[1])
				return []*Node{d.Truth, e.Logit(theta, d.X, in[1]), d.Ones, d.Zeros}
			}, seeds(runs), []float32{0.1, 0.5, 2})
			near(t, "the truth at the inputs", out[0], out[1], single)
			distinct := tests.Distinct()
			if len(out[2]) != runs*batches*distinct {
				t.Fatalf("%+v: got %d counts, want one for each input", tests, len(out[2]))
			}
			expected := float64(tests.Tau) / float64(distinct)
			var spread, miss []float64
			for batch := range runs * batches {
				total := 0.0
				for i := batch * distinct; i < (batch+1)*distinct; i++ {
					n := out[2][i] + out[3][i]
					total += n
					spread = append(spread, (n-expected)*(n-expected))
					miss = append(miss, out[2][i]-n*sigmoid(out[0][i]))
				}
				if total != float64(tests.Tau) {
					t.Fatalf("%+v: a batch has %v classes, want tau", tests, total)
				}
			}
			want := expected * (1 - 1/float64(distinct))
			if tests.independent() {
				want = 0
			}
			within(t, fmt.Sprintf("%+v: squared distance of counts", tests), spread, want)
			within(t, fmt.Sprintf("%+v: class 1 less its probability", tests), miss, 0)
		}
	})
}

// The number of classes 1 at an input has the variance of a binomial number, given the number of classes there: classes
// are drawn one by one, not once for the input.
func TestClassesAreDrawnOneByOne(t *testing.T) {
	tests := testInputs{Batches: 4000, Tau: 10, Anchors: 2}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		out := eval(t, name, func(in []*Node) []*Node {
			truth := BroadcastToDims(in[1], 1, tests.Batches*2)
			d := tests.Classes(rng.New(in[0]), nil, truth)
			return []*Node{d.Ones, d.Zeros}
		}, []uint64{5}, float32(1))
		p := sigmoid(1)
		var excess []float64
		for i, ones := range out[0] {
			n := ones + out[1][i]
			excess = append(excess, math.Pow(ones-n*p, 2)-n*p*(1-p))
		}
		within(t, "squares less their expectation", excess, 0)
	})
}
