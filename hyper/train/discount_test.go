package train

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"gonum.org/v1/gonum/mat"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// With a discount the state is the posterior of data that count less the older they are, from the normal equations: at
// once for 0.9, and for 0.98 two data at a time.
func TestDiscount(t *testing.T) {
	b := hyper.BayesianLinear{Features: 4, Blocks: 2, Waves: 2, Length: 1}
	const data, size = 25, 5
	for _, gamma := range []float64{0.9, 0.98, 1} {
		testbackend.Each(t, func(t *testing.T, name string) {
			for _, standardize := range []bool{false, true} {
				r := rand.New(rand.NewPCG(1, 2))
				x, y := make([]float32, data*4), make([]float32, data)
				block := make([]int, data)
				for i := range y {
					block[i] = r.IntN(2)
					for j := range 2 {
						x[i*4+2*block[i]+j] = float32(r.NormFloat64())
					}
					y[i] = float32(7 + 3*r.NormFloat64())
				}
				tr := Trainer{b, Config{Integrate: Exact, Standardize: standardize, Discount: gamma}}
				if err := tr.Validate(b); err != nil {
					t.Fatal(err)
				}
				mu, root, phi := discounting(t, name, tr, x, y)
				seen := make([]float64, data)
				for i := range seen {
					seen[i] = float64(y[i])
				}
				if standardize {
					standardised(seen)
				}
				every := map[float64]int{0.9: 1, 0.98: 2, 1: 1}[gamma]
				for blk := range 2 {
					precision, moment := mat.NewDense(size, size, nil), mat.NewVecDense(size, nil)
					for p := range size {
						precision.Set(p, p, 1)
					}
					for i := range data {
						if block[i] != blk {
							continue
						}
						w := 4 * math.Pow(gamma, float64(((data-1)/every-i/every)*every)) // rho = 2 / 0.5
						at := mat.NewVecDense(size, phi[i*size:(i+1)*size])
						precision.RankOne(precision, w, at, at)
						moment.AddScaledVec(moment, w*seen[i], at)
					}
					var q, ss mat.Dense
					if err := q.Inverse(precision); err != nil {
						t.Fatal(err)
					}
					s := mat.NewDense(size, size, root[blk*25:(blk+1)*25])
					ss.Mul(s, s.T())
					if !mat.EqualApprox(&ss, &q, 2e-5) {
						t.Errorf("%v, block %d: S S^T is\n%v, want\n%v", gamma, blk, mat.Formatted(&ss), mat.Formatted(&q))
					}
					var want mat.VecDense
					want.MulVec(&q, moment)
					if got := mat.NewVecDense(size, mu[blk*5:blk*5+5]); !mat.EqualApprox(got, &want, 2e-4) {
						t.Errorf("%v, standardise %v, block %d: mu is %v, want %v", gamma, standardize, blk, got.RawVector().Data, want.RawVector().Data)
					}
				}
			}
		})
	}
}

// discounting returns mu, S and phi of the data that a trainer of a run has observed, with noise variance 0.5 and prior
// variance 2.
func discounting(t *testing.T, name string, tr Trainer, x, y []float32) (mu, root, phi []float64) {
	t.Helper()
	back, err := backend.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	n := len(y)
	out, err := CallOnceN(back, func(in []*Node) []*Node {
		s := rng.New(in[0])
		state := tr.Init(s, nil)
		rates := Rates{NoiseVar: in[3], PriorVar: in[4], Perturbation: in[3]}
		phis := []*Node{}
		for i := range n {
			at, y := Slice(in[1], AxisElem(i)), Squeeze(Slice(in[2], AxisElem(i)), 0)
			phi, _ := tr.Belief.(hyper.Conjugate).Phi(params(state), InsertAxes(at, 1))
			phis = append(phis, Squeeze(phi, 1))
			state = tr.Observe(state, s, Const(s.Graph(), int32(i)), at, y, nil, rates)
		}
		p := tr.Params(state)
		return []*Node{p.Nu[0], p.Nu[1], Stack(phis, 0)}
	}, []uint64{3}, tensors.FromFlatDataAndDimensions(x, n, len(x)/n), tensors.FromFlatDataAndDimensions(y, n, 1),
		[]float32{0.5}, []float32{2})
	if err != nil {
		t.Fatal(err)
	}
	var flat [3][]float64
	for i, o := range out {
		for _, v := range tensors.MustCopyFlatData[float32](o) {
			flat[i] = append(flat[i], float64(v))
		}
	}
	return flat[0], flat[1], flat[2]
}

// A discount that is out of range, or that a way cannot have, is refused.
func TestDiscountRefuses(t *testing.T) {
	own := hyper.BayesianLinear{Features: 2}
	for want, c := range map[string]Config{
		"must be from 0.9 to 1, got 0.5": {Integrate: Exact, Discount: 0.5},
		"got NaN":                        {Integrate: Exact, Discount: math.NaN()},
	} {
		if err := c.Validate(own); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	other := hyper.Model{Base: base.Linear{Features: 2}, Hyper: hyper.Ensemble{Particles: 3, Params: 2}}
	if err := (Config{Integrate: Exact, Discount: 0.99}).Validate(other); err == nil || !strings.Contains(err.Error(), "a window") {
		t.Error(err)
	}
}
