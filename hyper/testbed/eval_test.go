package testbed

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// eval runs a graph function once, and returns its float32 outputs, each flat and row-major.
func eval(t testing.TB, name string, fn func(in []*Node) []*Node, args ...any) [][]float64 {
	t.Helper()
	b, err := backend.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	out, err := CallOnceN(b, fn, args...)
	if err != nil {
		t.Fatal(err)
	}
	flat := make([][]float64, len(out))
	for i, o := range out {
		for _, v := range tensors.MustCopyFlatData[float32](o) {
			flat[i] = append(flat[i], float64(v))
		}
	}
	return flat
}

// near reports entries that differ by more than tolerance * (1 + the largest wanted entry).
func near(t testing.TB, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	largest := 0.0
	for _, w := range want {
		largest = max(largest, math.Abs(w))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*(1+largest)) {
			t.Errorf("%s: entry %d is %g, want %g", what, i, got[i], want[i])
			return
		}
	}
}

// within reports a mean that differs from want by more than 5 of its standard errors.
func within(t testing.TB, what string, x []float64, want float64) {
	t.Helper()
	mean, square := 0.0, 0.0
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		square += (v - mean) * (v - mean)
	}
	if se := math.Sqrt(square / n / (n - 1)); !(math.Abs(mean-want) <= 5*se) {
		t.Errorf("%s: mean %.5f +- %.5f, want %.5f", what, mean, se, want)
	}
}

// single is the tolerance between two computations of a number in single precision: some hundred roundings of 6e-8.
const single = 5e-6

func sigmoid(f float64) float64 { return 1 / (1 + math.Exp(-f)) }

// forward returns an environment's logit of class 1 minus the logit of class 0, divided by rho, in double precision.
func forward(e Environment, theta, x []float64, rho float64) float64 {
	layers := e.Network().Layers
	h := x
	for i := range len(layers) - 1 {
		in, out := layers[i], layers[i+1]
		next := make([]float64, out)
		for o := range out {
			next[o] = theta[in*out+o]
			for j := range in {
				next[o] += theta[o*in+j] * h[j]
			}
			if i < len(layers)-2 {
				next[o] = max(next[o], 0)
			}
		}
		h, theta = next, theta[(in+1)*out:]
	}
	return (h[1] - h[0]) / rho
}
