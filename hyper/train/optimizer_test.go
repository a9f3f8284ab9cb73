package train

import (
	"fmt"
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
)

// referenceAdam is algorithm 1 of Kingma and Ba (ICLR 2015), for one number and its gradients in turn.
func referenceAdam(nu, step float64, grads []float64) float64 {
	m, v := 0.0, 0.0
	for i, g := range grads {
		t := float64(i + 1)
		m = 0.9*m + 0.1*g
		v = 0.999*v + 0.001*g*g
		nu -= step * (m / (1 - math.Pow(0.9, t))) / (math.Sqrt(v/(1-math.Pow(0.999, t))) + 1e-8)
	}
	return nu
}

func referenceSGD(nu, step float64, grads []float64) float64 {
	for _, g := range grads {
		nu -= step * g
	}
	return nu
}

// Each optimizer's three steps on two nodes of different shapes are the formula's, with a step size for each run.
// Adam's 1 - 0.999^t loses 3 digits of single precision's 7, and the square root gives half of them back.
func TestOptimizers(t *testing.T) {
	a := array{[]int{2, 2}, []float64{0.5, -1, 2, 0.25}}          // a vector for each of two runs
	b := array{[]int{2, 1, 1}, []float64{1.5, -0.75}}             // a matrix
	scales, steps := []float64{1, -0.5, 3}, []float64{0.125, 0.5} // gradients are scale * (nu_0 + 1)
	for name, reference := range map[string]func(nu, step float64, grads []float64) float64{"sgd": referenceSGD, "adam": referenceAdam} {
		for _, backend := range backends() {
			out := eval(t, backend, func(in []*Node) []*Node {
				nu, o := []*Node{in[0], in[1]}, Optimizers[name]
				state := o.Init(nu)
				for _, scale := range scales {
					grads := []*Node{MulScalar(OnePlus(in[0]), scale), MulScalar(OnePlus(in[1]), scale)}
					state, nu = o.Update(state, nu, grads, in[2])
				}
				return nu
			}, a.float32s(), b.float32s(), array{[]int{2}, steps}.float32s())
			for i, start := range []array{a, b} {
				var want []float64
				for j, v := range start.v {
					var grads []float64
					for _, scale := range scales {
						grads = append(grads, scale*(v+1))
					}
					want = append(want, reference(v, steps[j*2/len(start.v)], grads))
				}
				near(t, fmt.Sprintf("%s on %s, node %d", name, backend, i), out[i].v, want, 1e-4)
			}
		}
	}
}
