package testbed

import (
	"fmt"
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// seeds returns n different seeds.
func seeds(n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(i) + 1
	}
	return out
}

func squares(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v * v
	}
	return out
}

// The log odds equal a forward pass in double precision divided by each run's rho. The classes that are drawn have the
// probabilities of the log odds: on average, and where the odds are high or low.
func TestEnvironmentData(t *testing.T) {
	const runs, n, inputs = 4, 2000, 3
	e, rho := networkTruth{Inputs: inputs}, []float32{0.01, 0.1, 0.5, 3}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		out := eval(t, name, func(in []*Node) []*Node {
			s := rng.New(in[0])
			theta := e.Init(s.Named("truth"))
			x, y := e.Data(s.Named("data"), theta, in[1], n)
			return []*Node{theta, x, y, e.Logit(theta, x, in[1])}
		}, seeds(runs), rho)
		theta, x, y, logit := out[0], out[1], out[2], out[3]
		for run := range runs {
			var want, miss, high []float64
			for i := run * n; i < (run+1)*n; i++ {
				f := forward(e, theta[run*len(theta)/runs:], x[i*inputs:][:inputs], float64(rho[run]))
				want = append(want, f)
				miss = append(miss, y[i]-sigmoid(f))
				high = append(high, (y[i]-sigmoid(f))*math.Tanh(f))
				if y[i] != 0 && y[i] != 1 {
					t.Fatalf("got class %v, want 0 or 1", y[i])
				}
			}
			near(t, fmt.Sprint("log-odds of run ", run), logit[run*n:][:n], want, single)
			within(t, fmt.Sprint("run ", run, ": class 1 less its probability"), miss, 0)
			within(t, fmt.Sprint("run ", run, ": the same where the odds are far from 1"), high, 0)
		}
		if size := (inputs+1)*50 + 51*50 + 51*2; len(theta) != runs*size {
			t.Errorf("%d parameters, want %d for each run", len(theta), size)
		}
		var biases []float64 // of the first layer
		for run := range runs {
			biases = append(biases, theta[run*len(theta)/runs+inputs*50:][:50]...)
		}
		within(t, "squares of the first biases", squares(biases), 1./inputs)
		within(t, "inputs", x, 0)
		within(t, "squares of inputs", squares(x), 1)
	})
}

// Problems keep their random numbers, so that all results of a sweep are about the same problems. The numbers are those
// of the committed results: log odds of the truth of classification_2d/75 at two inputs, the classes of its data and of
// two dyadic tests, and for a regression problem responses and a posterior mean.
func TestProblemsKeepTheirNumbers(t *testing.T) {
	p := Classification2D().Problems[75]
	e, tests := networkTruth{Inputs: p.Inputs}, testInputs{Batches: 1, Tau: 10, Anchors: 2}
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		s, rho := problemStream(in[0]), in[1]
		theta := e.Init(s.Named("truth"))
		_, y := e.Data(s.Named("data"), theta, rho, p.Data)
		return []*Node{e.Logit(theta, in[2], rho), y, tests.Draw(s.Named("tests").Step(10), e, theta, rho).Ones}
	}, []uint64{p.Seed}, []float32{float32(p.Temperature)}, [][][]float32{{{0, 0}, {1, 1}}})
	r := must.M1(processTruth{Inputs: 1, Noise: 0.1}.Draw(rng.NewHost(1), 3, 1))
	got := fmt.Sprintf("%.1f %v %v %.3f %.3f", out[0], out[1], out[2], r.Y, r.Mean)
	if want := "[4.0 3.6] [1 0 1 1 1 1 1 1 1 1] [7 3] [-0.407 0.071 -0.331] [0.323]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
