package testbed

import (
	"fmt"
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

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

// A standard normal variable conditioned on |w| < 2 has variance 1 - 4 phi(2)/erf(2/sqrt 2) = 0.7737 and standard
// deviation 0.8796. Weights have that variance divided by the fan-in, and are within 2/sqrt(fanIn). The biases of the
// first layer have variance 1/D, and other biases are 0.
func TestEnvironmentMoments(t *testing.T) {
	const variance = 0.87962566 * 0.87962566
	testbackend.ForEach(t, func(t *testing.T, name string) {
		for _, inputs := range []int{1, 7} {
			e := networkTruth{Inputs: inputs}
			const runs = 100
			theta := eval(t, name, func(in []*Node) []*Node { return []*Node{e.Init(rng.New(in[0]))} }, seeds(runs))[0]
			part := map[string][]float64{}
			for run := range runs {
				at := theta[run*len(theta)/runs:][:len(theta)/runs]
				for i, in := range []int{inputs, 50, 50} {
					out := []int{50, 50, 2}[i]
					key := fmt.Sprintf("D=%d, layer %d, fan-in %d", inputs, i+1, in)
					part[key] = append(part[key], at[:in*out]...)
					part[key+", biases"] = append(part[key+", biases"], at[in*out:][:out]...)
					at = at[in*out+out:]
				}
				if len(at) > 0 {
					t.Fatalf("%d parameters were not checked", len(at))
				}
			}
			for i, in := range []int{inputs, 50, 50} {
				key := fmt.Sprintf("D=%d, layer %d, fan-in %d", inputs, i+1, in)
				within(t, key, part[key], 0)
				within(t, key+", squares", squares(part[key]), variance/float64(in))
				if largest := slices.Max(part[key]) * math.Sqrt(float64(in)); largest > 2 || largest < 1.9 {
					t.Errorf("%s: the largest weight is %.3f/sqrt(fanIn)", key, largest)
				}
				if biases := part[key+", biases"]; i == 0 {
					within(t, key+", biases", biases, 0)
					within(t, key+", squares of biases", squares(biases), 1/float64(inputs))
				} else if slices.Max(biases) != 0 || slices.Min(biases) != 0 {
					t.Errorf("%s: biases are not 0", key)
				}
			}
		}
	})
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
		within(t, "inputs", x, 0)
		within(t, "squares of inputs", squares(x), 1)
	})
}

// A problem in a batch is equal to the problem alone, and its data do not depend on the tests.
func TestProblemsAreIndependentOfTheBatch(t *testing.T) {
	e, tests := networkTruth{Inputs: 2}, testInputs{Batches: 5, Tau: 10, Anchors: 2}
	draw := func(in []*Node) []*Node {
		s := rng.New(in[0])
		theta := e.Init(s.Named("truth"))
		x, y := e.Data(s.Named("data"), theta, in[1], 30)
		d := tests.Draw(s.Named("tests"), e, theta, in[1])
		return []*Node{theta, x, y, d.X, d.Truth, d.Ones, d.Zeros}
	}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		both := eval(t, name, draw, []uint64{7, 76}, []float32{0.5, 0.1})
		for run, rho := range []float32{0.5, 0.1} {
			alone := eval(t, name, draw, []uint64{7, 76}[run:run+1], []float32{rho})
			for i, a := range alone {
				near(t, fmt.Sprint("run ", run, ", node ", i), both[i][run*len(a):][:len(a)], a, 1e-6)
			}
		}
	})
}

// The truth of classification_2d/75: its log odds at two inputs, and the classes of the data.
func Example_networkTruth() {
	p := Classification2D().Problems[75]
	e := p.networkTruth()
	b, err := backend.Open(backend.Go)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := CallOnceN(b, func(in []*Node) []*Node {
		s, rho := rng.New(in[0]), in[1]
		theta := e.Init(s.Named("truth"))
		_, y := e.Data(s.Named("data"), theta, rho, p.Data)
		return []*Node{e.Logit(theta, in[2], rho), y}
	}, []uint64{p.Seed}, []float32{float32(p.Temperature)}, [][][]float32{{{0, 0}, {1, 1}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f %v\n", out[0].Value(), out[1].Value())
	// Output: [[0.4 -1.2]] [[0 1 1 0 0 1 1 0 0 0]]
}
