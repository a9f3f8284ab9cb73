package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
)

// oracleOf returns the oracle for one run of a trial. The trial's minibatch stands for the whole data set.
func oracleOf(t testing.TB, p trial, r int) Oracle {
	t.Helper()
	o := Oracle{NoiseVar: p.noiseVar[r], PriorVar: p.priorVar[r], Perturbation: p.perturbation[r]}
	o.Phi, o.Y, o.A = p.x.sub(r).dense(), p.y.sub(r).vec(), p.a.sub(r).dense()
	if b, ok := p.model.Base.(base.Tabular); ok {
		arms := make([]int, 0, len(p.x.sub(r).v))
		for _, x := range p.x.sub(r).v {
			arms = append(arms, int(x))
		}
		o.Phi = armRows(arms, b.Arms)
		if _, ok := p.model.Index().(index.PerArm); ok {
			o.A = armBlocks(arms, o.A, b.Arms)
		}
	}
	return o
}

// minimise returns the oracle's minimiser for one run of a trial, as the nodes of nu in their order.
func (p trial) minimise(t testing.TB, o Oracle, r int) []array {
	t.Helper()
	var db mat.Matrix
	if p.model.Prior != nil {
		db = must.M1(FullMatrix(p.model.Prior.Layout, p.prior.sub(r).dense()))
		if b := p.model.Prior.Base; b != nil && b != p.model.Base {
			db, o.A = nil, p.lessPrior(o.A, r, db.T())
		}
	}
	if h, ok := p.model.Hyper.(hyper.Ensemble); ok {
		nu := must.M1(o.Ensemble(p.nu0[0].sub(r).dense().T(), db))
		out := newArray(h.Particles, h.Params)
		mat.NewDense(h.Particles, h.Params, out.v).Copy(nu.T())
		return []array{out}
	}
	l := p.model.Hyper.(hyper.Linear).Layout
	if newProblem(Config{}, p.model).oneHot() {
		return p.nearestParticles(t, o, r, db)
	}
	mu, full := must.M2(o.Linear(l, p.nu0[0].sub(r).vec(), must.M1(FullMatrix(l, p.nu0[1].sub(r).dense())), db))
	c, row := newArray(l.Rows(), l.Width), 0
	for b, size := range l.Sizes {
		for range size {
			for j := range l.Width {
				c.sub(row).v[j] = full.At(row, b*l.Width+j)
			}
			row++
		}
	}
	return []array{{[]int{mu.Len()}, mu.RawVector().Data}, c}
}

// lessPrior returns A changed so that the prior's predictions are subtracted from the responses. theta is [N,
// parameters of the prior's base model].
func (p trial) lessPrior(a mat.Matrix, r int, theta mat.Matrix) mat.Matrix {
	out := mat.DenseCopyOf(a)
	out.Apply(func(t, i int, v float64) float64 {
		return v - referenceApply(p.model.Prior.Base, mat.Row(nil, i, theta), p.x.sub(r, t).v)/p.perturbation[r]
	}, out)
	return out
}

// nearestParticles is minimise for a dense linear hypermodel with one-hot indices. The loss equals the loss of an
// ensemble of particles mu + c_i, so that nu has a minimiser for each mu. In the minimiser nearest to nu0, mu moves by
// sum_i d_i / (N + 1), where d_i is the move of particle i.
func (p trial) nearestParticles(t testing.TB, o Oracle, r int, db mat.Matrix) []array {
	t.Helper()
	mu0, c0 := p.nu0[0].sub(r), p.nu0[1].sub(r)
	start := c0.dense()
	start.Apply(func(i, _ int, v float64) float64 { return v + mu0.at(i) }, start)
	moved := must.M1(o.Ensemble(start, db))
	moved.Sub(moved, start)
	mu, c := newArray(mu0.dims...), newArray(c0.dims...)
	for i := range mu.v {
		row := moved.RawRowView(i)
		d := floats.Sum(row) / float64(len(row)+1)
		mu.v[i] = mu0.v[i] + d
		for j := range row {
			c.sub(i).v[j] = c0.at(i, j) + row[j] - d
		}
	}
	return []array{mu, c}
}

// The gradient of the paper's loss is zero at the oracle's minimiser, to the error of central differences. The loss is
// computed in plain Go over indices with the exact moments of p_z. The loss is strongly convex, so no other point has a
// zero gradient.
func TestOracleIsWhereTheGradientVanishes(t *testing.T) {
	tested := 0
	for _, m := range linearModels() {
		if _, ok := m.Hyper.(hyper.Network); ok {
			continue
		}
		tested++
		t.Run(m.name, func(t *testing.T) {
			p := newTrial(t, m.Model, 7, 7)
			z := eval(t, backends()[0], func(in []*Node) []*Node {
				return []*Node{exactIndices(m.Index(), in[0].Graph()).Dense()}
			}, float32(0))[0]
			for r := range problemRuns {
				for i, v := range p.minimise(t, oracleOf(t, p, r), r) {
					copy(p.nu[i].sub(r).v, v.v)
				}
				g := referenceGradient(p, r, z.sub(r))
				near(t, fmt.Sprintf("gradient of run %d", r), g, make([]float64, len(g)), 2e-6)
			}
		})
	}
	if tested < 19 {
		t.Errorf("%d models were tested, want at least 19", tested)
	}
}

// With two data, prior variance 4 and noise variance 1/2 the posterior is computed by hand. One parameter is observed
// with the features 1 and 2, the responses are y = (3, 5), and the prior mean is 1. The precision is 1/4 + 2 (1 + 4) =
// 41/4, and the mean is (1/4 + 2 (3 + 10)) / (41/4) = 105/41.
func TestPosteriorByHand(t *testing.T) {
	o := Oracle{Phi: mat.NewDense(2, 1, []float64{1, 2}), Y: mat.NewVecDense(2, []float64{3, 5}), NoiseVar: 0.5}
	mean, cov := must.M2(o.Posterior(mat.NewVecDense(1, []float64{1}), mat.NewSymDense(1, []float64{4})))
	near(t, "mean", mean.RawVector().Data, []float64{105.0 / 41}, 1e-14)
	near(t, "variance", []float64{cov.At(0, 0)}, []float64{4.0 / 41}, 1e-14)
}

// Conditioning on the data one by one, by the rank-one formula
// cov' = cov - cov phi phi^T cov / (sigma_w^2 + phi^T cov phi), gives the same posterior.
func TestPosteriorOneByOne(t *testing.T) {
	const n, data, noise = 4, 9, 0.3
	r := rand.New(rand.NewPCG(3, 4))
	phi, y := randomArray(r, 1, data, n), randomArray(r, 1, data)
	root := randomArray(r, 1, n, n).dense()
	cov0 := mat.NewSymDense(n, nil)
	cov0.SymOuterK(1, root)
	mean0 := randomArray(r, 1, n).vec()
	mean, cov := must.M2(Oracle{Phi: phi.dense(), Y: y.vec(), NoiseVar: noise}.Posterior(mean0, cov0))
	m, c := mat.VecDenseCopyOf(mean0), mat.NewSymDense(n, nil)
	c.CopySym(cov0)
	for i := range data {
		f := phi.sub(i).vec()
		var gain mat.VecDense
		gain.MulVec(c, f)
		total := noise + mat.Dot(f, &gain)
		m.AddScaledVec(m, (y.v[i]-mat.Dot(f, m))/total, &gain)
		c.SymRankOne(c, -1/total, &gain)
	}
	near(t, "mean", mean.RawVector().Data, m.RawVector().Data, 1e-11)
	near(t, "covariance", mat.DenseCopyOf(cov).RawMatrix().Data, mat.DenseCopyOf(c).RawMatrix().Data, 1e-11)
}

func TestOracleErrors(t *testing.T) {
	phi, y, a := mat.NewDense(2, 3, nil), mat.NewVecDense(2, nil), mat.NewDense(2, 4, nil)
	good := Oracle{Phi: phi, Y: y, A: a, NoiseVar: 1, PriorVar: 1}
	dense, diagonal := hyper.Dense(3, 4), hyper.PerParameter(3, 2)
	linear := func(o Oracle, l hyper.Layout, mu0 mat.Vector, c0, db mat.Matrix) error {
		_, _, err := o.Linear(l, mu0, c0, db)
		return err
	}
	posterior := func(o Oracle, mean0 mat.Vector, cov0 mat.Symmetric) error {
		_, _, err := o.Posterior(mean0, cov0)
		return err
	}
	change := func(f func(*Oracle)) Oracle { o := good; f(&o); return o }
	wide := change(func(o *Oracle) { o.A = mat.NewDense(2, 6, nil) })
	for want, err := range map[string]error{
		"Y has 3":                 linear(change(func(o *Oracle) { o.Y = mat.NewVecDense(3, nil) }), dense, nil, nil, nil),
		"A has 3":                 linear(change(func(o *Oracle) { o.A = mat.NewDense(3, 4, nil) }), dense, nil, nil, nil),
		"also need A, with a row": linear(change(func(o *Oracle) { o.A = nil }), dense, nil, nil, nil),
		"NoiseVar":                linear(change(func(o *Oracle) { o.NoiseVar = math.NaN() }), dense, nil, nil, nil),
		"PriorVar":                linear(change(func(o *Oracle) { o.PriorVar = 0 }), dense, nil, nil, nil),
		"layout is 3 x 6":         linear(good, diagonal, nil, nil, nil),
		"mu0 is 4 x 1":            linear(good, dense, mat.NewVecDense(4, nil), nil, nil),
		"C0 is 3 x 3":             linear(good, dense, nil, mat.NewDense(3, 3, nil), nil),
		"db is 4 x 4":             linear(good, dense, nil, nil, mat.NewDense(4, 4, nil)),
		"outside the layout":      linear(wide, diagonal, nil, mat.NewDense(3, 6, []float64{0, 0, 1, 17: 0}), nil),
		"cov0 must be 3 x 3":      posterior(good, nil, mat.NewSymDense(2, nil)),
		"not positive definite":   posterior(good, nil, mat.NewSymDense(3, nil)),
		"Phi and Y":               posterior(Oracle{}, nil, nil),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if err := linear(good, dense, nil, nil, nil); err != nil {
		t.Error(err)
	}
	if err := posterior(Oracle{Phi: phi, Y: y, NoiseVar: 1}, nil, mat.NewDiagDense(3, []float64{1, 1, 1})); err != nil {
		t.Error(err)
	}
}

// One arm has the prior N(0, 9/4) and two rewards, 1 and 3, with noise variance 1. The posterior mean is 4/(4/9 + 2),
// and the variance is 1/(4/9 + 2).
func ExampleOracle_Posterior() {
	o := Oracle{Phi: mat.NewDense(2, 1, []float64{1, 1}), Y: mat.NewVecDense(2, []float64{1, 3}), NoiseVar: 1}
	mean, cov, err := o.Posterior(nil, mat.NewDiagDense(1, []float64{2.25}))
	fmt.Printf("%.4f %.4f %v\n", mean.AtVec(0), cov.At(0, 0), err)
	// Output: 1.6364 0.4091 <nil>
}
