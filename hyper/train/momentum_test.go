package train

import (
	"fmt"
	"testing"
)

// referenceMomentum returns the steps with momentum for one number and a sequence of gradients.
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

// Steps with momentum equal the sequences in plain Go. With a constant gradient of 1, the velocities are (1 - Decay^t)
// / (1 - Decay).
func TestMomentum(t *testing.T) {
	for _, o := range []Momentum{{}, {Decay: 0.5}, {Nesterov: true}, {Decay: 0.75, Nesterov: true}} {
		sameSteps(t, o, []float64{1, -0.5, 3, 2}, single, func(nu, step float64, grads []float64) float64 {
			return referenceMomentum(o, nu, step, grads)
		})
	}
	if (Config{Optimizer: Momentum{}}).LinearSteps() {
		t.Error("momentum has the same limit of stability as SGD")
	}
}

func ExampleMomentum() {
	fmt.Println(Momentum{Decay: 0.95, Nesterov: true}.Validate())
	fmt.Println(Momentum{Decay: 1}.Validate())
	// Output:
	// <nil>
	// Decay must be in [0, 1), got 1
}
