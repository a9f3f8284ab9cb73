package train

import (
	"fmt"
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/index"
)

// logCosh is a loss that is not quadratic, log cosh(f - y).
type logCosh struct{}

func (logCosh) Value(f, y *Node) *Node {
	d := Abs(Sub(f, y))
	return AddScalar(Add(d, Log1P(Exp(MulScalar(d, -2)))), -math.Ln2)
}
func (logCosh) Gradient(f, y *Node) *Node { return Tanh(Sub(f, y)) }
func (logCosh) Link(f *Node) *Node        { return f }
func (logCosh) Quadratic() bool           { return false }

// referenceLosses are the losses in plain Go.
var referenceLosses = map[Loss]func(f, y float64) float64{
	nil:        func(f, y float64) float64 { return (f - y) * (f - y) / 2 },
	Gaussian{}: func(f, y float64) float64 { return (f - y) * (f - y) / 2 },
	logCosh{}:  func(f, y float64) float64 { return math.Log(math.Cosh(f - y)) },

	LogisticLoss{}: referenceLogistic,
}

// Each loss equals its formula, and Gradient equals the derivative by central differences in plain Go. A loss whose
// Quadratic is true has third differences of 0.
func TestLosses(t *testing.T) {
	f, y := []float32{-3, -0.5, 0, 0.25, 1, 2.5, 4}, []float32{0, 1, 0.5, 1, 0.25, 0, 1}
	for l, reference := range referenceLosses {
		if l == nil {
			continue
		}
		out := eval(t, backend.Go, func(in []*Node) []*Node {
			return []*Node{l.Value(in[0], in[1]), l.Gradient(in[0], in[1])}
		}, f, y)
		var value, slope []float64
		third := 0.0
		for i := range f {
			const h = 1e-5
			at := func(by float64) float64 { return reference(float64(f[i])+by, float64(y[i])) }
			value, slope = append(value, at(0)), append(slope, (at(h)-at(-h))/(2*h))
			third = max(third, math.Abs(at(1.5)-3*at(0.5)+3*at(-0.5)-at(-1.5)))
		}
		near(t, fmt.Sprintf("%T", l), out[0].v, value, single)
		near(t, fmt.Sprintf("slope of %T", l), out[1].v, slope, single)
		if (third < 1e-9) != l.Quadratic() {
			t.Errorf("%T: Quadratic is %v, but third differences are up to %g", l, l.Quadratic(), third)
		}
	}
}

// The loss and its gradient equal the paper's formula in plain Go and double precision, for every structure of model.
// |D|/|D~| is 17/5. The tolerance is some hundred units of single precision's 6e-8, for sums of about ten terms.
// Central differences have an error of 1e-9.
func TestLossAndGradient(t *testing.T) {
	for i, m := range append(linearModels(), otherModels()...) {
		p := newTrial(t, m.Model, 5, 17)
		for _, name := range sometimesXLA(i) {
			t.Run(m.name+"/"+name, func(t *testing.T) {
				const indices = 6
				out := eval(t, name, func(in []*Node) []*Node {
					g := p.nodes(in)
					z := p.sample(in[0].Graph(), indices)
					loss := p.loss(Config{}, g, z)
					grads := p.gradient(Config{}, g, z)
					return append([]*Node{loss, z.Dense()}, grads...)
				}, p.args()...)
				for r := range problemRuns {
					z, nu := out[1].sub(r), make([]array, len(p.nu))
					for i := range nu {
						nu[i] = p.nu[i].sub(r)
					}
					near(t, fmt.Sprintf("loss of run %d", r), out[0].v[r:r+1], []float64{referenceLoss(p, r, nu, z)}, 5e-6)
					near(t, fmt.Sprintf("gradient of run %d", r), ofRun(out[2:], r), referenceGradient(p, r, z), 5e-6)
				}
			})
		}
	}
}

// With every loss and with all weights, the loss and its gradient equal the formula in plain Go by central differences,
// and all other routes that fit have the same gradient. A loss and the weights meet only in one product, so that each
// loss is tested with one kind of weights. 1 - Phi(u) is 3e-5 for u = 4, and single precision has it to 6e-8. The
// weights of Exponential, near 10 there, therefore have an error of 2e-3.
func TestLossesWithWeights(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a hundred programs")
	}
	for l, w := range map[Loss]Weights{Gaussian{}: Bernoulli, logCosh{}: Exponential, LogisticLoss{}: Unweighted} {
		c, tolerance := Config{Loss: l, Weights: w}, 2*single
		if w == Exponential {
			tolerance = 2e-3
		}
		for _, m := range append(linearModels(), otherModels()...) {
			if _, masks := m.Index().(index.Bernoulli); masks && w != Unweighted {
				continue
			}
			p := newTrial(t, m.Model, 5, 17)
			p.Config = c
			out := eval(t, backend.Go, func(in []*Node) []*Node {
				g := p.nodes(in)
				z := p.sample(in[0].Graph(), 6)
				return append([]*Node{p.loss(c, g, z), z.Dense()}, p.gradient(c, g, z)...)
			}, p.args()...)
			for r := range problemRuns {
				z, nu := out[1].sub(r), make([]array, len(p.nu))
				for i := range nu {
					nu[i] = p.nu[i].sub(r)
				}
				what := fmt.Sprintf("%s, %T, weights %q, run %d", m.name, l, w, r)
				near(t, what, out[0].v[r:r+1], []float64{referenceLoss(p, r, nu, z)}, tolerance)
				near(t, "gradient, "+what, ofRun(out[2:], r), referenceGradient(p, r, z), tolerance)
			}
		}
		fitting := agree(t, c, 2*single)
		if fitting["features"] < 20 || fitting["own gradient"] < 10 || fitting["automatic differentiation"] < 33 ||
			fitting["sums"] > 0 {
			t.Errorf("%T, weights %q: got the routes %v", l, w, fitting)
		}
	}
}
