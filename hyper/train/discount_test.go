package train

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/mat"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// The state equals the posterior by normal equations, in mean and root, for each block. In the equations a datum has
// the weight gamma^n if it came n data before the last visit to its block. The prior is the diagonal matrix that the
// turns leave, computed by hand.
func TestDiscountIsThePosterior(t *testing.T) {
	b := hyper.BayesianLinear{Features: 4, Blocks: 2, Waves: 4, Length: 1}
	const size = 7
	for _, standardize := range []bool{false, true} {
		for _, gamma := range []float64{0.995, 0.97, 0.9} {
			testbackend.ForEach(t, func(t *testing.T, name string) {
				if name != backend.Go && (!standardize || gamma != 0.97) {
					return // XLA takes seconds to compile a case
				}
				data := 24
				if name != backend.Go {
					data = 8
				}
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
				must.M(tr.Validate(b))
				turns := tr.turns(2, size)
				if least := math.Pow(gamma, float64(turns.data)); least < leastPrior-1e-9 {
					t.Errorf("a turn of %d data leaves %g of the prior", turns.data, least)
				}
				if both := turns.atOnce == 2; both != (gamma < 0.99) {
					t.Errorf("discount %v: a datum visits both blocks: %v", gamma, both)
				}
				var prior [2][]float64
				var visited [2]int // the number of the datum with the last visit to each block
				for blk := range prior {
					prior[blk] = slices.Repeat([]float64{1}, size)
					at := 0
					for i := blk % turns.wait; i < data; i += turns.wait {
						visited[blk] = i
						for j := range size {
							prior[blk][j] *= math.Pow(gamma, float64(turns.wait))
						}
						for range turns.each {
							if at < size {
								prior[blk][at] += 1 - math.Pow(gamma, float64(turns.data))
							}
							at = (at + 1) % (turns.data / turns.wait * turns.each)
						}
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
							precision.Set(p, p, prior[blk][p])
						}
						for i := range data {
							if block[i*2+run] == blk {
								w := rho * math.Pow(gamma, float64(visited[blk]-i))
								at := mat.NewVecDense(size, phi[(i*2+run)*size:(i*2+run+1)*size])
								precision.RankOne(precision, w, at, at)
								moment.AddScaledVec(moment, w*(float64(y[i*2+run])-mean)/sd, at)
							}
						}
						var q, ss mat.Dense
						must.M(q.Inverse(precision))
						s := mat.NewDense(size, size, root[(run*2+blk)*size*size:(run*2+blk+1)*size*size])
						ss.Mul(s, s.T())
						if !mat.EqualApprox(&ss, &q, 1e-5) {
							t.Errorf("gamma %v, run %d, block %d: S S^T is\n%v, want\n%v",
								gamma, run, blk, mat.Formatted(&ss),
								mat.Formatted(&q))
						}
						var want mat.VecDense
						want.MulVec(&q, moment)
						from := (run*2 + blk) * size
						if got := mat.NewVecDense(size, mu[from:from+size]); !mat.EqualApprox(got, &want, 1e-4) {
							t.Errorf("gamma %v, run %d, block %d: mu is %v, want %v",
								gamma, run, blk, got.RawVector().Data,
								want.RawVector().Data)
						}
					}
				}
			})
		}
	}
}

// Forgetting in turns is close to exact forgetting, Lambda <- gamma Lambda + (1 - gamma) I + rho phi phi^T at every
// datum. The standard deviations of predictions are within 10 % of the exact ones, and 9 in 10 within 6 %. The means
// are within a quarter of a standard deviation, and 9 in 10 within an eighth.
func TestDiscountIsNearlyExact(t *testing.T) {
	b := hyper.BayesianLinear{Features: 6, Blocks: 8, Numbered: true, Waves: 20, Length: 1}
	for _, gamma := range []float64{0.999, 0.99, 0.95} {
		tr := Trainer{b, Config{Integrate: Exact, Discount: gamma, Inputs: 6}}
		names, before, _ := programmed(t, tr, nil, nil, nil)
		p, ok := hosted(t, tr, names, before), false
		r, size := rand.New(rand.NewPCG(5, 6)), 26
		draw := func() []float32 {
			x := []float32{float32(r.IntN(7))} // block 7 has no data
			for range 5 {
				x = append(x, float32(r.NormFloat64()))
			}
			return x
		}
		lambda, eta := make([]*mat.Dense, 8), make([]*mat.VecDense, 8)
		identity := mat.NewDense(size, size, nil)
		for i := range size {
			identity.Set(i, i, 1)
		}
		for i := range lambda {
			lambda[i], eta[i] = mat.DenseCopyOf(identity), mat.NewVecDense(size, nil)
		}
		var deviations, means []float64
		for n := range 700 {
			x := draw()
			y := 2*math.Sin(float64(x[1])) + 0.3*r.NormFloat64()
			if p, ok = p.Observe(x, float32(y), 1); !ok {
				t.Fatal("the posterior is not finite")
			}
			for i := range lambda {
				lambda[i].Scale(gamma, lambda[i])
				for k := range size {
					lambda[i].Set(k, k, lambda[i].At(k, k)+1-gamma)
				}
				eta[i].ScaleVec(gamma, eta[i])
			}
			phi, at := p.phi(x)
			v := mat.NewVecDense(size, phi)
			lambda[at].RankOne(lambda[at], p.rho, v, v)
			eta[at].AddScaledVec(eta[at], p.rho*float64(float32(y)), v)
			if n%20 > 0 {
				continue
			}
			for i := range lambda {
				x := draw()
				x[0] = float32(i)
				narrow, root := make([]float32, size), make([]float32, size)
				b.HostPhi(p.params, x, narrow)
				got := float64(hostView{p.blocks[i], p.parts, 0, 1}.Moments(0, narrow, root))
				variance := 0.0
				for _, f := range root {
					variance += float64(f) * float64(f)
				}
				phi, _ := p.phi(x)
				v, q, mu := mat.NewVecDense(size, phi), new(mat.VecDense), new(mat.VecDense)
				must.M(errors.Join(q.SolveVec(lambda[i], v), mu.SolveVec(lambda[i], eta[i])))
				sd := math.Sqrt(mat.Dot(v, q))
				deviations = append(deviations, math.Abs(math.Sqrt(variance)/sd-1))
				means = append(means, math.Abs(got-mat.Dot(v, mu))/sd)
			}
		}
		near := func(what string, x []float64, ninety, most float64) {
			slices.Sort(x)
			t.Logf("gamma %v: %s are %.3f apart in the middle, %.3f in 9 of 10, %.3f at most", gamma, what, x[len(x)/2],
				x[len(x)*9/10], x[len(x)-1])
			if x[len(x)*9/10] > ninety || x[len(x)-1] > most {
				t.Errorf("discount %v: %s differ too much", gamma, what)
			}
		}
		near("deviations", deviations, 0.06, 0.1)
		near("means", means, 0.125, 0.25)
	}
}

// discountedMoments returns the weighted mean and the standard deviation of a run's responses, by sums with weights.
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

// Validate gives the reason for a Discount that is out of range or not supported. A Discount of 1 is no discount.
func TestDiscountIsChecked(t *testing.T) {
	linear := hyper.BayesianLinear{Features: 2}
	ensemble := hyper.Model{Base: base.Linear{Features: 2}, Hyper: hyper.Ensemble{Particles: 2, Params: 2}}
	for _, c := range []struct {
		belief hyper.Belief
		gamma  float64
		want   string
	}{
		{linear, -1, "must be above 0.5"}, {linear, 1.1, "must be above 0.5"}, {linear, math.NaN(), "must be above 0.5"},
		{linear, 0.5, "must be above 0.5"}, {ensemble, 0.9, "needs a conjugate belief"}, {linear, 0.9, ""}, {linear, 1, ""},
		{ensemble, 1, ""},
	} {
		err := Config{Integrate: Exact, Discount: c.gamma}.Validate(c.belief)
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T, %v: %v, want %q", c.belief, c.gamma, err, c.want)
		}
	}
}
