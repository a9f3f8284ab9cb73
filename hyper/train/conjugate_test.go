package train

import (
	"math/rand/v2"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// After 16 data the state is the posterior of each block, by the normal equations: mu, and S S^T = Q. With Standardize
// the state is the posterior for the responses less their mean and divided by their standard deviation.
func TestConjugateIsThePosterior(t *testing.T) {
	b := hyper.BayesianLinear{Features: 4, Blocks: 2, Waves: 3, Length: 1}
	const data, size = 16, 6
	for _, standardize := range []bool{false, true} {
		testbackend.ForEach(t, func(t *testing.T, name string) {
			if name != backend.Go && !standardize {
				return // XLA takes seconds to compile a case
			}
			r := rand.New(rand.NewPCG(1, 2))
			x, y := make([]float32, data*2*4), make([]float32, data*2)
			block := make([]int, data*2)
			for i := range y {
				block[i] = r.IntN(2)
				for j := range 2 {
					x[i*4+2*block[i]+j] = float32(r.NormFloat64())
				}
				y[i] = float32(7 + 3*r.NormFloat64())
			}
			tr := Trainer{b, Config{Integrate: Exact, Standardize: standardize}}
			if err := tr.Validate(b); err != nil || tr.Route().Name != "posterior" {
				t.Fatalf("got error %v and route %q, want posterior", err, tr.Route().Name)
			}
			out := observed(t, name, tr, tensors.FromFlatDataAndDimensions(x, data, 2, 4),
				tensors.FromFlatDataAndDimensions(y, data, 2))
			mu, root, phi := out[0], out[1], out[2] // [2, 12], [2, 2, 6, 6], [data, 2, 6]
			for run := range 2 {
				seen := make([]float64, data)
				for i := range seen {
					seen[i] = float64(y[i*2+run])
				}
				if standardize {
					standardised(seen, nil)
				}
				rho := []float64{2 / 0.5, 3 / 0.25}[run]
				for blk := range 2 {
					precision, moment := mat.NewDense(size, size, nil), mat.NewVecDense(size, nil)
					for p := range size {
						precision.Set(p, p, 1)
					}
					for i := range data {
						if block[i*2+run] == blk {
							at := mat.NewVecDense(size, phi[(i*2+run)*size:(i*2+run+1)*size])
							precision.RankOne(precision, rho, at, at)
							moment.AddScaledVec(moment, rho*seen[i], at)
						}
					}
					var q, s, ss mat.Dense
					must.M(q.Inverse(precision))
					s = *mat.NewDense(size, size, root[(run*2+blk)*36:(run*2+blk+1)*36])
					ss.Mul(&s, s.T())
					if !mat.EqualApprox(&ss, &q, 1e-6) {
						t.Errorf("run %d, block %d: S S^T is\n%v, want\n%v",
							run, blk, mat.Formatted(&ss), mat.Formatted(&q))
					}
					var want mat.VecDense
					want.MulVec(&q, moment)
					got := mat.NewVecDense(size, mu[run*12+blk*6:run*12+blk*6+6])
					if !mat.EqualApprox(got, &want, 1e-4) {
						t.Errorf("run %d, block %d: mu is %v, want %v",
							run, blk, got.RawVector().Data, want.RawVector().Data)
					}
				}
			}
		})
	}
}

// standardised subtracts the mean from y and divides by the standard deviation.
func standardised(y, weights []float64) {
	mean, sd := stat.MeanStdDev(y, weights)
	for i := range y {
		y[i] = (y[i] - mean) / sd
	}
}

// observed returns mu, S and phi of the data that a trainer of two runs has observed. The inputs x are [data, runs,
// features] and the responses y are [data, runs]. The noise variances are 0.5 and 0.25, and the prior variances 2 and
// 3.
func observed(t *testing.T, name string, tr Trainer, x, y *tensors.Tensor) [][]float64 {
	t.Helper()
	return testbackend.Eval[float64](t, name, func(in []*Node) []*Node {
		s := rng.New(in[0])
		state := tr.Init(s, nil)
		rates := Rates{NoiseVar: in[3], PriorVar: in[4], Perturbation: in[3]}
		phis := []*Node{}
		for i := range x.Shape().Dim(0) {
			at, y := Squeeze(Slice(in[1], AxisElem(i)), 0), Squeeze(Slice(in[2], AxisElem(i)), 0)
			phi, _ := tr.Belief.(hyper.Conjugate).Phi(params(state), InsertAxes(at, 1))
			phis = append(phis, Squeeze(phi, 1))
			state = tr.Observe(state, s, Const(s.Graph(), int32(i)), at, y, nil, rates)
		}
		p := tr.Params(state)
		return []*Node{p.Nu[0], p.Nu[1], ConvertDType(Stack(phis, 0), dtypes.Float32)}
	}, []uint64{3, 4}, x, y, []float32{0.5, 0.25}, []float32{2, 3})
}

// A posterior is trained only by Exact with a quadratic loss. Other training returns an error with the reason.
func TestConjugateIsExact(t *testing.T) {
	b := hyper.BayesianLinear{Features: 2}
	sampled := Config{Steps: 1, Batch: 1, Indices: 1, Integrate: Sampled, Capacity: 4, Inputs: 2}
	for want, c := range map[string]Config{
		"use Integrate exact, not sampled": sampled,
		"needs a quadratic loss":           {Integrate: Exact, Loss: LogisticLoss{}},
		"does not support Weights":         {Integrate: Exact, Weights: Bernoulli},
	} {
		if err := c.Validate(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
	if err, size := exactFor(b), (Trainer{Belief: b}).ExactSize(); err != nil || size != 0 {
		t.Error(err, size)
	}
}
