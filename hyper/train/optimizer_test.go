package train

import (
	"fmt"
	"math"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// referenceAdam is algorithm 1 of Kingma and Ba (ICLR 2015), for one number and a sequence of gradients.
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

// optimizers has one optimizer of each kind.
func optimizers() map[string]Optimizer {
	return map[string]Optimizer{"SGD": SGD{}, "Adam": Adam{}, "Adamax": Adamax{}, "RMSProp": RMSProp{}}
}

func referenceSGD(nu, step float64, grads []float64) float64 {
	for _, g := range grads {
		nu -= step * g
	}
	return nu
}

// The three steps of each optimizer equal the formula. The term 1 - 0.999^t of Adam loses 3 digits of single
// precision's 7, and the square root gives half of them back.
func TestOptimizers(t *testing.T) {
	for o, reference := range map[Optimizer]func(nu, step float64, grads []float64) float64{
		SGD{}: referenceSGD, Adam{}: referenceAdam,
	} {
		sameSteps(t, o, []float64{1, -0.5, 3}, 1e-4, reference)
	}
}

// sameSteps compares the steps of an optimizer with a sequence in plain Go, for nodes of different shapes and a
// different step size for each of two runs. The gradients are scale * (nu_0 + 1).
func sameSteps(t *testing.T, o Optimizer, scales []float64, tolerance float64,
	reference func(nu, step float64, grads []float64) float64) {
	t.Helper()
	a := array{[]int{2, 2}, []float64{0.5, -1, 2, 0.25}} // a vector for each run
	b := array{[]int{2, 1, 1}, []float64{1.5, -0.75}}    // a matrix
	steps := []float64{0.125, 0.5}
	for _, engine := range backends() {
		out := eval(t, engine, func(in []*Node) []*Node {
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
				want = append(want, reference(v, steps[j*2/len(start.v)], grads))
			}
			near(t, fmt.Sprintf("%T %+v on %s, node %d", o, o, engine, i), out[i].v, want, tolerance)
		}
	}
}

// An XLA program writes a constant out number by number. A constant as large as the model for each run would take
// longer to compile than everything else.
func TestOptimizersMakeNoLargeConstants(t *testing.T) {
	for name, o := range optimizers() {
		eval(t, backend.Go, func(in []*Node) []*Node {
			_, nu := o.Update(o.Init(in[:1]), in[:1], in[:1], in[1])
			for _, n := range in[0].Graph().Nodes() {
				if n.Type() == NodeTypeConstant && n.Shape().Size() > 1 {
					t.Errorf("%s makes a constant of shape %s, want a scalar", name, n.Shape())
				}
			}
			return nu
		}, array{[]int{2, 3}, make([]float64, 6)}.float32s(), array{[]int{2}, make([]float64, 2)}.float32s())
	}
}

// Optimizers are comparable values, with settings that are useful when they are zero.
func ExampleAdam() {
	for _, o := range []Optimizer{SGD{}, Adam{Beta1: 0.8}, Adamax{}, RMSProp{WeightDecay: 0.01}} {
		c := Config{Optimizer: o}
		fmt.Printf("%T %v %v\n", o, c.LinearSteps(), c.ValidateNames())
	}
	// Output:
	// train.SGD true <nil>
	// train.Adam false <nil>
	// train.Adamax false <nil>
	// train.RMSProp false <nil>
}

// An optimizer of GoMLX that takes no computed gradients is refused, with the field's name.
func TestFromGoMLXNeedsGradients(t *testing.T) {
	adam := optimizer.Adam().LearningRate(1).Done()
	if err := (Config{Optimizer: FromGoMLX{adam}}).ValidateNames(); err != nil {
		t.Errorf("Adam: got error %v, want none", err)
	}
	hidden := struct{ optimizer.Interface }{adam}
	err := Config{Optimizer: FromGoMLX{hidden}}.ValidateNames()
	if err == nil || !strings.HasPrefix(err.Error(), "Optimizer: Optimizer needs a method UpdateGraphWithGradients") {
		t.Errorf("an optimizer without gradients: got error %v, want one about the method", err)
	}
}
