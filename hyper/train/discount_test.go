package train

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"gonum.org/v1/gonum/mat"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// The state is the posterior of the normal equations whose datum of age n has the weight gamma^n, mean and root, for
// each block. The prior is the diagonal matrix that the turns leave, by hand.
func TestDiscountIsThePosterior(t *testing.T) {
	b := hyper.BayesianLinear{Features: 4, Blocks: 2, Waves: 4, Length: 1}
	const data, size = 24, 7
	for _, standardize := range []bool{false, true} {
		for _, gamma := range []float64{0.97, 0.9} {
			testbackend.Each(t, func(t *testing.T, name string) {
				r := rand.New(rand.NewPCG(1, 2))
				x, y, block := make([]float32, data*2*4), make([]float32, data*2), make([]int, data*2)
				for i := range y {
					block[i] = r.IntN(2)
					for j := range 2 {
						x[i*4+2*block[i]+j] = float32(r.NormFloat64())
					}
					y[i] = float32(3*r.NormFloat64() + 2)
				}
				tr := Trainer{b, Config{Integrate: Exact, Discount: gamma, Standardize: standardize}}
				if err := tr.Validate(b); err != nil {
					t.Fatal(err)
				}
				turn, each := tr.turns(size)
				if least := math.Pow(gamma, float64(turn)); least < leastPrior-1e-9 {
					t.Errorf("a turn of %d data leaves %g of the prior", turn, least)
				}
				prior, at := make([]float64, size), 0
				for j := range prior {
					prior[j] = 1
				}
				for range data {
					for j := range prior {
						prior[j] *= gamma
					}
					for range each {
						if at < size {
							prior[at] += 1 - math.Pow(gamma, float64(turn))
						}
						at = (at + 1) % (turn * each)
					}
				}
				out := observed(t, name, tr, tensors.FromFlatDataAndDimensions(x, data, 2, 4),
					tensors.FromFlatDataAndDimensions(y, data, 2))
				mu, root, phi := out[0], out[1], out[2]
				for run := range 2 {
					rho := []float64{2 / 0.5, 3 / 0.25}[run]
					mean, sd := 0.0, 1.0
					if standardize {
						mean, sd = discountedMoments(y, run, gamma)
					}
					for blk := range 2 {
						precision, moment := mat.NewDense(size, size, nil), mat.NewVecDense(size, nil)
						for p := range size {
							precision.Set(p, p, prior[p])
						}
						for i := range data {
							if block[i*2+run] == blk {
								w := rho * math.Pow(gamma, float64(data-1-i))
								at := mat.NewVecDense(size, phi[(i*2+run)*size:(i*2+run+1)*size])
								precision.RankOne(precision, w, at, at)
								moment.AddScaledVec(moment, w*(float64(y[i*2+run])-mean)/sd, at)
							}
						}
						var q, ss mat.Dense
						if err := q.Inverse(precision); err != nil {
							t.Fatal(err)
						}
						s := mat.NewDense(size, size, root[(run*2+blk)*size*size:(run*2+blk+1)*size*size])
						ss.Mul(s, s.T())
						if !mat.EqualApprox(&ss, &q, 1e-5) {
							t.Errorf("gamma %v, run %d, block %d: S S^T is\n%v, want\n%v", gamma, run, blk, mat.Formatted(&ss),
								mat.Formatted(&q))
						}
						var want mat.VecDense
						want.MulVec(&q, moment)
						from := (run*2 + blk) * size
						if got := mat.NewVecDense(size, mu[from:from+size]); !mat.EqualApprox(got, &want, 1e-4) {
							t.Errorf("gamma %v, run %d, block %d: mu is %v, want %v", gamma, run, blk, got.RawVector().Data,
								want.RawVector().Data)
						}
					}
				}
			})
		}
	}
}

// discountedMoments are the weighted mean of a run's responses and their deviation, by Welford's sums with weights.
func discountedMoments(y []float32, run int, gamma float64) (mean, sd float64) {
	n, sum := 0.0, 0.0
	last := len(y)/2 - 1
	for i := range last + 1 {
		w := math.Pow(gamma, float64(last-i))
		n, sum = n+w, sum+w*float64(y[2*i+run])
	}
	mean = sum / n
	m2 := 0.0
	for i := range last + 1 {
		m2 += math.Pow(gamma, float64(last-i)) * math.Pow(float64(y[2*i+run])-mean, 2)
	}
	return mean, math.Sqrt(m2 / max(n-1, 1))
}

// A Discount that cannot be says why; 1 is none.
func TestDiscountIsChecked(t *testing.T) {
	linear := hyper.BayesianLinear{Features: 2}
	ensemble := hyper.Model{Base: base.Linear{Features: 2}, Hyper: hyper.Ensemble{Particles: 2, Params: 2}}
	for _, c := range []struct {
		belief hyper.Belief
		gamma  float64
		want   string
	}{
		{linear, -1, "must be above 0.5"}, {linear, 1.1, "must be above 0.5"}, {linear, math.NaN(), "must be above 0.5"},
		{linear, 0.5, "must be above 0.5"}, {ensemble, 0.9, "its own posterior"}, {linear, 0.9, ""}, {linear, 1, ""},
		{ensemble, 1, ""},
	} {
		err := Config{Integrate: Exact, Discount: c.gamma}.Validate(c.belief)
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T, %v: %v, want %q", c.belief, c.gamma, err, c.want)
		}
	}
}
