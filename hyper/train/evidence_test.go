package train

import (
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/mat"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// The probability of the line agrees with Bayes' theorem. The marginal likelihoods come from the covariances of all
// responses: multivariate Student t with 2 degrees of freedom. The runs have two noises, with standardised responses
// and without.
func TestSharesArePosterior(t *testing.T) {
	b := hyper.BayesianLinear{Features: 3, Blocks: 2, Numbered: true, Waves: 4, Length: 1, Line: true}
	const data = 14
	noises, priors := []float32{0.5, 0.2}, []float32{2, 3}
	for _, c := range []Config{{}, {Standardize: true}, {Standardize: true, Weighted: true}} {
		c.Integrate = Exact
		testbackend.ForEach(t, func(t *testing.T, name string) {
			if name != backend.Go && !c.Weighted {
				return // XLA takes five seconds to compile a case
			}
			r := rand.New(rand.NewPCG(1, 2))
			x, y, w := make([]float32, data*2*3), make([]float32, data*2), make([]float32, data*2)
			for i := range y {
				x[i*3], x[i*3+1], x[i*3+2] = float32(r.IntN(2)), float32(r.NormFloat64()), float32(r.NormFloat64())
				y[i], w[i] = 4+2*x[i*3+1]+float32(r.NormFloat64()), 1
				if c.Weighted {
					w[i] = float32(1 + r.IntN(3))
				}
			}
			tr := Trainer{b, c}
			out := eval(t, name, func(in []*Node) []*Node {
				s := rng.New(in[0])
				state := tr.Init(s, nil)
				var phis []*Node
				for i := range data {
					at := func(n *Node) *Node { return Squeeze(Slice(n, AxisElem(i)), 0) }
					rates := Rates{NoiseVar: in[4], PriorVar: in[5], Perturbation: in[4]}
					if c.Weighted {
						rates.Weight = at(in[3])
					}
					phi, _ := b.Phi(params(state), InsertAxes(at(in[1]), 1))
					phis = append(phis, Squeeze(phi, 1))
					state = tr.Observe(state, s, Const(s.Graph(), int32(i)), at(in[1]), at(in[2]), nil, rates)
				}
				return []*Node{tr.Params(state).Nu[3], Stack(phis, 0)}
			}, []uint64{3, 4}, tensors.FromFlatDataAndDimensions(x, data, 2, 3), tensors.FromFlatDataAndDimensions(y, data, 2),
				tensors.FromFlatDataAndDimensions(w, data, 2), noises, priors)
			shares, phi := out[0].v, out[1].v
			const whole = 7 + 3
			for run := range 2 {
				seen, weights := make([]float64, data), make([]float64, data)
				for i := range seen {
					seen[i], weights[i] = float64(y[i*2+run]), float64(w[i*2+run])
				}
				if c.Standardize {
					standardised(seen, weights)
				}
				log := func(from, to int) float64 {
					covariance := mat.NewSymDense(data, nil) // relative to the variance of the noise
					n := 0.0
					for i := range data {
						for j := range i + 1 {
							sum := 0.0
							for k := from; k < to && x[(i*2+run)*3] == x[(j*2+run)*3]; k++ {
								sum += phi[(i*2+run)*whole+k] * phi[(j*2+run)*whole+k] * float64(priors[run]/noises[run])
							}
							if i == j {
								sum += 1 / float64(w[i*2+run])
							}
							covariance.SetSym(i, j, sum)
						}
						n += float64(w[i*2+run])
					}
					var by mat.Cholesky
					if !by.Factorize(covariance) {
						t.Fatal("the covariance has no root")
					}
					var solved mat.VecDense
					must.M(by.SolveVecTo(&solved, mat.NewVecDense(data, seen)))
					misses := mat.Dot(&solved, mat.NewVecDense(data, seen))
					return -by.LogDet()/2 - (n+2)/2*math.Log(2*float64(noises[run])+misses)
				}
				want := 1 / (1 + math.Exp(log(0, 7)-log(7, whole)))
				if math.Abs(shares[run]-want) > 1e-4 || want < 0.01 || want > 0.99999 {
					t.Errorf("%+v, run %d: the line has %v, want %v", c, run, shares[run], want)
				}
			}
		})
	}
}
