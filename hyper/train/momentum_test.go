package train

import (
	"fmt"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
)

// referenceMomentum is the sequence for one number and its gradients in turn.
func referenceMomentum(o Momentum, nu, step float64, grads []float64) float64 {
	decay, v := o.Decay, 0.0
	if decay == 0 {
		decay = 0.9
	}
	for _, g := range grads {
		v = decay*v + g
		if o.Nesterov {
			nu -= step * (g + decay*v)
		} else {
			nu -= step * v
		}
	}
	return nu
}

// Steps with momentum are the sequences in plain Go, for nodes of different shapes and a step size for each run. With a
// constant gradient of 1 velocities are (1 - Decay^t) / (1 - Decay).
func TestMomentum(t *testing.T) {
	a, b := array{[]int{2, 2}, []float64{0.5, -1, 2, 0.25}}, array{[]int{2, 1, 1}, []float64{1.5, -0.75}}
	scales, steps := []float64{1, -0.5, 3, 2}, []float64{0.125, 0.5}
	for _, o := range []Momentum{{}, {Decay: 0.5}, {Nesterov: true}, {Decay: 0.75, Nesterov: true}} {
		for _, name := range backends() {
			out := eval(t, name, func(in []*Node) []*Node {
				nu, state := in[:2], o.Init(in[:2])
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
					want = append(want, referenceMomentum(o, v, steps[j*2/len(start.v)], grads))
				}
				near(t, fmt.Sprintf("%+v on %s, node %d", o, name, i), out[i].v, want, single)
			}
		}
	}
	if IsLinear(Momentum{}) {
		t.Error("momentum has the limit of stability of SGD")
	}
}

func ExampleMomentum() {
	fmt.Println(Momentum{Decay: 0.95, Nesterov: true}.Validate())
	fmt.Println(Momentum{Decay: 1}.Validate())
	// Output:
	// <nil>
	// Decay must be in [0, 1), got 1
}
