package train

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// In the loss, a datum of weight w counts as w data with the same input, response and perturbation. The test compares
// weights 3 and 1 with four data, for every model.
func TestWeightedLoss(t *testing.T) {
	for _, m := range append(linearModels(), otherModels()...) {
		p := newTrial(t, m.Model, 2, 2)
		out := eval(t, backend.Go, func(in []*Node) []*Node {
			g := p.nodes(in)
			z := p.sample(in[0].Graph(), 3)
			thrice := func(x *Node) *Node {
				first := Slice(x, AxisRange(), AxisRange(0, 1))
				return Concatenate([]*Node{first, first, x}, 1)
			}
			many := g
			many.data = Batch{X: thrice(g.data.X), Y: thrice(g.data.Y), A: thrice(g.data.A)}
			many.size = MulScalar(g.size, 2) // |D|/|D~| stays the same
			g.data.W = Const(in[0].Graph(), [][]float32{{3, 1}, {3, 1}})
			return []*Node{p.loss(Config{Weighted: true}, g, z), p.loss(Config{}, many, z)}
		}, p.args()...)
		near(t, m.name, out[0].v, out[1].v, 1e-5)
	}
}

// The exact posterior with a datum of weight 3 equals the posterior with the same datum three times. So does the one of
// standardised responses, with their mean and variance.
func TestWeightedPosterior(t *testing.T) {
	b := hyper.BayesianLinear{Features: 2, Waves: 3, Length: 1}
	learned := func(standardize bool, weights ...float32) []array {
		tr := Trainer{b, Config{Integrate: Exact, Weighted: true, Standardize: standardize}}
		return eval(t, backend.Go, func(in []*Node) []*Node {
			g, s := in[0].Graph(), rng.New(in[0])
			number := func(v float32) *Node { return Const(g, []float32{v}) }
			state := tr.Init(s, nil)
			for i, w := range weights {
				r := Rates{NoiseVar: number(0.5), PriorVar: number(2), Perturbation: number(1), Weight: number(w)}
				x, y := Const(g, [][]float32{{0.5, -1}}), number(0.7)
				if i == len(weights)-1 {
					x, y = Const(g, [][]float32{{1, 2}}), number(-0.3)
				}
				state = tr.Observe(state, s.Named("observe").Step(i), Const(g, int32(i)), x, y, nil, r)
			}
			nu := tr.Params(state).Nu
			root := Squeeze(nu[1], 1)
			out := []*Node{nu[0], Einsum("rij,rkj->rik", root, root)}
			if standardize {
				mean, sd := state.responses()
				out = append(out, mean, sd)
			}
			return out
		}, []uint64{4})
	}
	for _, standardize := range []bool{false, true} {
		once, thrice := learned(standardize, 3, 1), learned(standardize, 1, 1, 1, 1)
		for i := range once {
			near(t, "mean and covariance", once[i].v, thrice[i].v, 1e-6)
		}
	}
	small := learned(true, 0.01, 0.01) // of responses 0.7 and -0.3, with fewer data than 1 in all
	near(t, "mean of small weights", small[2].v, []float64{0.2}, 1e-6)
	near(t, "deviation of small weights", small[3].v, []float64{0.5}, 1e-6)
}

// The exact mean of an arm after data of weights 3 and 1 equals the mean after the first datum three times and the
// second datum once.
func TestWeightedArms(t *testing.T) {
	b := hyper.Model{Base: base.Tabular{Arms: 2}, Hyper: hyper.Ensemble{Particles: 3, Params: 2}}
	learned := func(y, weights []float32) []float64 {
		tr := Trainer{b, Config{Integrate: Exact, Weighted: true}}
		return eval(t, backend.Go, func(in []*Node) []*Node {
			g, s := in[0].Graph(), rng.New(in[0])
			number := func(v float32) *Node { return Const(g, []float32{v}) }
			state := tr.Init(s, nil)
			for i, w := range weights {
				r := Rates{NoiseVar: number(0.5), PriorVar: number(2), Perturbation: number(0), Weight: number(w)}
				state = tr.Observe(state, s, Const(g, int32(i)), Const(g, []int32{1}), number(y[i]), nil, r)
			}
			return tr.Params(state).Nu
		}, []uint64{4})[0].v
	}
	near(t, "particles", learned([]float32{2, 1}, []float32{3, 1}), learned([]float32{2, 2, 2, 1}, []float32{1, 1, 1, 1}), 1e-6)
}
