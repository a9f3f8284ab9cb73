package testbed

import (
	"math"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// eval runs a graph function once, and near compares its outputs.
var eval, near = testbackend.Eval[float64], testbackend.Near

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
func forward(e networkTruth, theta, x []float64, rho float64) float64 {
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
