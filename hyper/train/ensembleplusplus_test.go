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
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// The data of the tests of Ensemble++: eight data with three features, a noise variance and a prior variance.
const (
	plusData, plusDim       = 8, 3
	plusNoise, plusVariance = 0.5, 2.0
)

func plusPlus(m int, reference, noise index.Law) hyper.EnsemblePlusPlus {
	return hyper.EnsemblePlusPlus{Features: plusDim, P: index.Paired{N: m, Reference: reference, Noise: noise, Nonzero: 2}}
}

func plusInputs() (x, y []float32) {
	r := rand.New(rand.NewPCG(1, 2))
	for range plusData {
		for range plusDim {
			x = append(x, float32(r.NormFloat64()))
		}
		y = append(y, float32(r.NormFloat64()))
	}
	return x, y
}

// plusTrained returns f applied to the parameters of a belief that has observed the data, with A_0 and the a_t of each
// run.
func plusTrained(t *testing.T, name string, b hyper.Belief, runs int,
	f func(s rng.Stream, p hyper.Params) []*Node) [][]float32 {
	t.Helper()
	back := must.M1(backend.Open(name))
	seeds, noise, prior := make([]uint64, runs), make([]float32, runs), make([]float32, runs)
	for i := range seeds {
		seeds[i], noise[i], prior[i] = uint64(i+1), plusNoise, plusVariance
	}
	x, y := plusInputs()
	tr := Trainer{b, Config{Integrate: Exact}}
	out := must.M1(CallOnceN(back, func(in []*Node) []*Node {
		s := rng.New(in[0])
		state := tr.Init(s, Sqrt(in[2]))
		start, all := tr.Params(state).Nu[1], []*Node{}
		for i := range plusData {
			at := Const(s.Graph(), int32(i))
			input := BroadcastToDims(Const(s.Graph(), [][]float32{x[i*plusDim : (i+1)*plusDim]}), runs, plusDim)
			response := BroadcastToDims(Const(s.Graph(), y[i]), runs)
			rates := Rates{NoiseVar: in[1], PriorVar: in[2], Perturbation: Sqrt(in[1])}
			all = append(all, b.Index().Perturbation(s.At(at).Named("A"), 1))
			state = tr.Observe(state, s.At(at), at, input, response, nil, rates)
		}
		return append(f(s, tr.Params(state)), start, Concatenate(all, 1))
	}, seeds, noise, prior))
	flat := make([][]float32, len(out))
	for i, o := range out {
		flat[i] = tensors.MustCopyFlatData[float32](o)
	}
	return flat
}

// plusPosterior returns Sigma_t, and the rows x / sigma_w of the data for the closed form of A_t, where Sigma_0^-1 is I
// / plusVariance.
func plusPosterior() (sigma, x *mat.Dense) {
	inputs, _ := plusInputs()
	x = mat.NewDense(plusData, plusDim, nil)
	for i, v := range inputs {
		x.Set(i/plusDim, i%plusDim, float64(v)/math.Sqrt(plusNoise))
	}
	var precision mat.Dense
	precision.Mul(x.T(), x)
	for i := range plusDim {
		precision.Set(i, i, precision.At(i, i)+1/plusVariance)
	}
	sigma = new(mat.Dense)
	must.M(sigma.Inverse(&precision))
	return sigma, x
}

func denseOf(rows, columns int, v []float32) *mat.Dense {
	m := mat.NewDense(rows, columns, nil)
	for i, x := range v {
		m.Set(i/columns, i%columns, float64(x))
	}
	return m
}

// A_t is Sigma_t (Sigma_0^-1 A_0 + sum_s x_s a_s^T / sigma_w), and mu_t is the posterior mean, by the normal equations.
// Each of two runs has its own A_t and mu_t. The tolerances allow for the rounding of single precision.
func TestEnsemblePlusPlusHasItsClosedForm(t *testing.T) {
	const m, runs = 4, 2
	sigma, x := plusPosterior()
	_, y := plusInputs()
	var moment, mean mat.Dense
	moment.Mul(x.T(), denseOf(plusData, 1, y))
	moment.Scale(1/math.Sqrt(plusNoise), &moment)
	mean.Mul(sigma, &moment)
	for _, law := range enum.All[index.Law]() {
		testbackend.ForEach(t, func(t *testing.T, name string) {
			if name != backend.Go && law != index.LawSphere {
				return // XLA takes a second to compile a law, and package index tests the laws on XLA
			}
			out := plusTrained(t, name, plusPlus(m, law, law), runs, func(_ rng.Stream, p hyper.Params) []*Node { return p.Nu })
			for run := range runs {
				part := func(v []float32, rows, columns int) *mat.Dense {
					return denseOf(rows, columns, v[run*rows*columns:(run+1)*rows*columns])
				}
				start, a := part(out[2], plusDim, m), part(out[3], plusData, m)
				var want mat.Dense
				want.Mul(x.T(), a)
				start.Scale(1/plusVariance, start)
				want.Add(&want, start)
				want.Mul(sigma, &want)
				if got := part(out[1], plusDim, m); !mat.EqualApprox(got, &want, 1e-5) {
					t.Errorf("%v, run %d: A is\n%v, want\n%v", law, run, mat.Formatted(got), mat.Formatted(&want))
				}
				if got := part(out[0], plusDim, 1); !mat.EqualApprox(got, &mean, 1e-5) {
					t.Errorf("%v, run %d: mu is %v, want %v", law, run, got.RawMatrix().Data, mean.RawMatrix().Data)
				}
			}
		})
	}
}

// E A_t A_t^T = Sigma_t, over 2,000 runs on the same data. An entry is a sum of products of jointly nearly Gaussian
// numbers in M = 4 columns. The variance of an entry is at most 2 Sigma_ii Sigma_jj / M, and the bound is 5 standard
// errors.
func TestEnsemblePlusPlusIsARootOfTheCovariance(t *testing.T) {
	const m, runs = 4, 2000
	sigma, _ := plusPosterior()
	for _, law := range enum.All[index.Law]() {
		out := plusTrained(t, backend.Go, plusPlus(m, index.LawGaussian, law), runs, func(_ rng.Stream, p hyper.Params) []*Node {
			return []*Node{ReduceMean(Einsum("rim,rjm->rij", p.Nu[1], p.Nu[1]), 0)}
		})
		nearSigma(t, law.String(), denseOf(plusDim, plusDim, out[0]), sigma, 2./(m*runs))
	}
}

// With many columns, 2,000 draws of functions have the covariance of 2,000 draws from the exact posterior. The bounds
// allow for the sampling errors of the draws and, for Ensemble++, of its 2,000 columns. Both have the same mean.
func TestEnsemblePlusPlusDrawsThePosterior(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many functions")
	}
	const m, draws = 2000, 2000
	exact := hyper.BayesianLinear{Features: plusDim, Plain: true}
	sigma, _ := plusPosterior()
	for name, b := range map[string]hyper.Belief{"ensemble++": plusPlus(m, index.LawGaussian, index.LawSphere),
		"coordinates": plusPlus(m, index.LawCoordinate, index.LawCube), "exact": exact} {
		out := plusTrained(t, backend.Go, b, 1, func(s rng.Stream, p hyper.Params) []*Node {
			eye := Const(s.Graph(), [][][]float32{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}})
			theta := hyper.Sample(b, p, s.Named("draw"), draws, eye)
			theta = Sub(theta, InsertAxes(p.Nu[0], 1))
			return []*Node{MulScalar(Einsum("rni,rnj->rij", theta, theta), 1./draws), ReduceMean(theta, 1)}
		})
		nearSigma(t, name, denseOf(plusDim, plusDim, out[0]), sigma, 2./draws+2./m)
		for i, v := range out[1] {
			if sd := math.Sqrt(sigma.At(i, i) / draws); math.Abs(float64(v)) > 5*sd {
				t.Errorf("%s: the mean of theta_%d has an error of %v, with standard error %v", name, i, v, sd)
			}
		}
	}
}

// nearSigma compares an estimate of Sigma with Sigma. The bound is 5 standard deviations of the estimate's entries over
// sqrt(Sigma_ii Sigma_jj).
func nearSigma(t *testing.T, what string, got, sigma *mat.Dense, variance float64) {
	t.Helper()
	for i := range plusDim {
		for j := range plusDim {
			unit := math.Sqrt(sigma.At(i, i) * sigma.At(j, j))
			if math.Abs(got.At(i, j)-sigma.At(i, j)) > 5*math.Sqrt(variance)*unit {
				t.Errorf("%s: entry %d, %d is %v, want %v", what, i, j, got.At(i, j), sigma.At(i, j))
			}
		}
	}
}
