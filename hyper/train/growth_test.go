package train

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// growth is a family of models on a problem with a known posterior, with one model for each size of the index.
type growth struct {
	name  string
	of    func(n int) (index.Distribution, hyper.Layout, hyper.RowLaw)
	arms  []int     // the arms played; nil for a linear base model
	phi   mat.Dense // T x 3
	noise float64
	prior float64
}

const growthRuns = 100

// The covariance of theta at the loss's minimiser approaches the covariance of the posterior as the index grows. With
// a_t and rows of B drawn at random, (C + DB)(C + DB)^T averages N_z products, so that its error falls with
// 1/sqrt(N_z). The same holds for the sample covariance of N particles. The A_t and B are those that the package draws.
// The minimiser comes from the oracle, which the trainers reach (TestFullDataReachesTheOracle). A root mean square over
// 100 runs of about 6 covariances has an error of about 5%. The slope through four sizes, 4.2 apart in log N_z,
// therefore has an error of 0.015, and the interval is 4 of these errors to each side.
func TestCovarianceApproachesThePosterior(t *testing.T) {
	if testing.Short() {
		t.Skip("solves for many particles")
	}
	r := rand.New(rand.NewPCG(8, 9))
	line, played := *randomArray(r, 1, 6, 3).dense(), []int{0, 1, 1, 0, 1, 2}
	arms := *armRows(played, 3)
	for _, g := range []growth{
		{"Gaussian", func(n int) (index.Distribution, hyper.Layout, hyper.RowLaw) {
			return index.Gaussian{N: n}, hyper.Dense(3, n), hyper.RowsSphere
		}, nil, line, 0.5, 2.25},
		{"sphere", func(n int) (index.Distribution, hyper.Layout, hyper.RowLaw) {
			return index.Sphere{N: n}, hyper.Dense(3, n), hyper.RowsGaussian
		}, nil, line, 0.5, 2.25},
		{"ensemble", func(n int) (index.Distribution, hyper.Layout, hyper.RowLaw) {
			return index.OneHot{N: n}, hyper.Dense(3, n), hyper.RowsGaussian
		}, nil, line, 0.5, 2.25},
		{"per arm", func(n int) (index.Distribution, hyper.Layout, hyper.RowLaw) {
			return index.PerArm{Arms: 3, M: n}, hyper.PerParameter(3, n), hyper.RowsSphere
		}, played, arms, 1.5, 0.75},
	} {
		t.Run(g.name, func(t *testing.T) {
			var logs, errs []float64
			for _, n := range []int{4, 16, 64, 256} {
				e := g.error(t, n)
				if g.name == "ensemble" {
					n-- // a sample covariance has n - 1 degrees of freedom
				}
				logs, errs = append(logs, math.Log(float64(n))), append(errs, math.Log(e))
			}
			_, slope := stat.LinearRegression(logs, errs, nil, false)
			last := math.Exp(errs[3])
			t.Logf("slope %.3f, relative error %.3f at 256", slope, last)
			if slope < -0.56 || slope > -0.44 {
				t.Errorf("the error falls with N^%.3f, want N^-0.5; errors %.3f (logarithms)", slope, errs)
			}
			if last > 0.15 { // the error has no floor: at N = 4 it is near 1
				t.Errorf("got a relative error of %.3f at N = 256, want at most 0.15", last)
			}
		})
	}
}

// error returns the Frobenius distance between the covariance of theta and the covariance of the posterior, relative to
// the norm of the posterior's covariance, as the root mean square over runs.
func (g growth) error(t *testing.T, n int) float64 {
	t.Helper()
	p, layout, rows := g.of(n)
	data, _ := g.phi.Dims()
	seeds := make([]uint64, growthRuns)
	for i := range seeds {
		seeds[i] = uint64(1000*n + i)
	}
	drawn := eval(t, backends()[0], func(in []*Node) []*Node {
		s := rng.New(in[0])
		sd := math.Sqrt(g.prior)
		prior := hyper.Prior{Layout: layout, Rows: rows, StdDev: []float64{sd, sd, sd}}
		return []*Node{p.Perturbation(s.Named("A"), data), prior.Init(s.Named("prior"), nil)}
	}, seeds)
	y := mat.NewVecDense(data, nil)
	_, exact := must.M2(Oracle{Phi: &g.phi, Y: y, NoiseVar: g.noise}.Posterior(nil,
		mat.NewDiagDense(3, []float64{g.prior, g.prior, g.prior})))
	sum := 0.0
	for run := range growthRuns {
		var off mat.Dense
		off.Sub(g.covariance(t, p, layout, drawn[0].sub(run).dense(), drawn[1].sub(run).dense()), exact)
		sum += math.Pow(mat.Norm(&off, 2)/mat.Norm(exact, 2), 2)
	}
	return math.Sqrt(sum / growthRuns)
}

// covariance returns the covariance of theta over z at the minimiser, for given A and entries of D B.
func (g growth) covariance(t *testing.T, p index.Distribution, layout hyper.Layout, a, prior *mat.Dense) *mat.SymDense {
	t.Helper()
	if g.arms != nil {
		a = armBlocks(g.arms, a, 3)
	}
	db := must.M1(FullMatrix(layout, prior))
	data, _ := g.phi.Dims()
	o := Oracle{Phi: &g.phi, Y: mat.NewVecDense(data, nil), A: a, NoiseVar: g.noise, PriorVar: g.prior,
		Perturbation: math.Sqrt(g.noise)}
	out := mat.NewSymDense(3, nil)
	if _, finite := p.(index.Enumerable); finite {
		particles := must.M1(o.Ensemble(nil, db))
		particles.Add(particles, db)
		stat.CovarianceMatrix(out, particles.T(), nil)
		return out
	}
	_, c := must.M2(o.Linear(layout, nil, nil, db))
	c.Add(c, db)
	second := p.Moments().Second
	out.SymOuterK(second, c)
	return out
}

// A trained diagonal hypermodel of section 4.1, from C = 0, has on average over A and B exactly the posterior's
// variance at each arm, for every m: |c_k + sigma_p b_k|^2 is the squared norm of a mean of independent unit vectors.
// Its spread over runs falls with 1/sqrt(m). Means over 256 runs have an error of spread/16, and the spread has an
// error of 1/sqrt(2*256) = 4.4%.
func TestTrainedVarianceIsThePosteriors(t *testing.T) {
	const runs, noise, prior = 256, 1.5, 0.75
	played := []int{0, 1, 1, 0, 1, 2}
	spread := map[int][]float64{}
	for _, m := range []int{8, 128} {
		variance := trainedVariance(t, m, runs, noise, prior, played)
		for k, count := range []float64{2, 3, 1} {
			want := 1 / (count/noise + 1/prior)
			mean, sd := stat.MeanStdDev(variance[k], nil)
			if math.Abs(mean-want) > 5*sd/math.Sqrt(runs) {
				t.Errorf("m = %d, arm %d: variance %.4f +- %.4f, want %.4f", m, k, mean, sd/math.Sqrt(runs), want)
			}
			spread[m] = append(spread[m], sd)
		}
	}
	for k := range 3 { // sqrt(128/8) = 4, within 5 times sqrt(2) * 4.4%
		if ratio := spread[8][k] / spread[128][k]; math.Abs(ratio/4-1) > 5*math.Sqrt2*0.044 {
			t.Errorf("arm %d: the variance's spread fell %.2f times from m = 8 to 128, want 4", k, ratio)
		}
	}
}

// trainedVariance trains until convergence, and returns the variance of theta at each arm in each run.
func trainedVariance(t *testing.T, m, runs int, noise, prior float32, played []int) [3][]float64 {
	t.Helper()
	arms, layout, sd := base.Tabular{Arms: 3}, hyper.PerParameter(3, m), math.Sqrt(float64(prior))
	model := hyper.Model{
		Base:  arms,
		Hyper: hyper.Linear{Layout: layout, P: index.PerArm{Arms: 3, M: m}, InitC: hyper.InitZeros},
		Prior: &hyper.Prior{Base: arms, Layout: layout, StdDev: []float64{sd, sd, sd}},
	}
	seeds := make([]uint64, runs)
	for i := range seeds {
		seeds[i] = uint64(i)
	}
	all := func(v float32) []float32 { return slices.Repeat([]float32{v}, runs) }
	rates := [4][]float32{all(1.5), all(noise), all(prior), all(float32(math.Sqrt(float64(noise))))} // 6 data: 1.5/6 < 2/lambda_max = 0.6
	run := newMachine(t, backend.Go, Trainer{model, Config{Steps: 4, Capacity: 1, Integrate: FullData}}, seeds, rates, nil)
	for _, arm := range played {
		run.add(slices.Repeat([]int32{int32(arm)}, runs), all(1))
	}
	for period := range 15 { // (1 - 1.5/6 * 2)^60 is 1e-18
		run.train(period)
	}
	out := [3][]float64{}
	c, db := run.get("nu.1")[0], run.get("fixed.prior")[0]
	for r := range runs {
		for k := range out {
			v := 0.0
			for j := range m {
				v += math.Pow(c.at(r, k, j)+db.at(r, k, j), 2)
			}
			out[k] = append(out[k], v)
		}
	}
	return out
}
