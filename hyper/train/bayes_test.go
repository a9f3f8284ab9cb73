package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// logisticData returns n responses of a logistic regression with theta = (0.5, -1) and inputs N(0, I).
func logisticData(n int) (x, y array) {
	r := rand.New(rand.NewPCG(41, 42))
	x, y = randomArray(r, 1, 1, n, 2), newArray(1, n)
	for i := range n {
		f := 0.5*x.at(0, i, 0) - x.at(0, i, 1)
		if r.Float64() < 1/(1+math.Exp(-f)) {
			y.v[i] = 1
		}
	}
	return x, y
}

const logisticPrior = 4 // sigma_p^2 in the prior of theta

// logisticPosterior returns the means and the standard deviations of theta in the posterior, by sums over a grid. The
// grid is 0.04 wide, a quarter of a standard deviation, with which such sums are exact to many digits.
func logisticPosterior(x, y array) (mean, sd [2]float64) {
	total, square := 0.0, [2]float64{}
	for a := -3.0; a < 3; a += 0.04 {
		for b := -3.0; b < 3; b += 0.04 {
			energy := (a*a + b*b) / (2 * logisticPrior)
			for i, yi := range y.v {
				energy += referenceLogistic(a*x.v[2*i]+b*x.v[2*i+1], yi)
			}
			p := math.Exp(-energy)
			total += p
			for i, v := range []float64{a, b} {
				mean[i] += p * v
				square[i] += p * v * v
			}
		}
	}
	for i := range mean {
		mean[i] /= total
		sd[i] = math.Sqrt(square[i]/total - mean[i]*mean[i])
	}
	return mean, sd
}

// anchoredParticles returns the minimisers of the loss for particles that are anchored to draws of the prior,
// [2][particles]. Each step uses all data.
func anchoredParticles(t *testing.T, x, y array, particles int, weights Weights,
	perturbation float32) (theta [2][]float64) {
	t.Helper()
	n := len(y.v)
	m := hyper.Model{Base: base.Linear{Features: 2}, Hyper: hyper.Ensemble{Particles: particles, Params: 2,
		InitNu: hyper.InitNormal(math.Sqrt(logisticPrior))}}
	tr := Trainer{m, Config{Steps: 1, Batch: n, Integrate: Analytic, Capacity: n, Loss: LogisticLoss{}, Weights: weights}}
	must.M(tr.Validate(m))
	norm2 := 0.0
	for _, v := range x.v {
		norm2 += v * v
	}
	curvature := norm2/4*0.75 + 1.0/logisticPrior // the trace of Phi^T Phi / 4 is about twice its largest eigenvalue
	step := float32(float64(particles*n) / curvature)
	const some = 20
	run := compiled(t, backend.Go, func(in []*Node) []*Node {
		g, s := in[0].Graph(), rng.New(in[0])
		number := func(v float32) *Node { return Const(g, []float32{v}) }
		r := Rates{Step: number(step), NoiseVar: number(1), PriorVar: number(logisticPrior),
			Perturbation: number(perturbation)}
		state := tr.Init(s.Named("init"), nil)
		anchor := state["anchor.0"]
		state["nu.0"] = Where(Equal(in[4], ScalarZero(g, in[4].DType())), anchor, in[3])
		all := m.Index().(index.Enumerable).All(g, 1)
		d := draws{data: Batch{X: in[1], Y: in[2], A: m.Index().Perturbation(s.Named("A"), n)}, sets: all, count: particles}
		own := tr.solver()
		before := state["nu.0"]
		for range some {
			before = state["nu.0"]
			tr.step(state, own, &d, loop.At(0), Const(g, float32(n)), r)
		}
		return []*Node{state["nu.0"], ReduceAllMax(Abs(Sub(state["nu.0"], before)))}
	})
	nu, moved := newArray(1, particles, 2), 1.0
	for round := range 30 {
		out := run([]uint64{9}, x.float32s(), y.float32s(), nu.float32s(), float32(min(round, 1)))
		nu, moved = out[0], out[1].v[0]
		if moved < 1e-5 {
			break
		}
	}
	still := 1e-5
	if perturbation == 1 { // with responses far outside [0, 1] the losses are flat
		still = 0.01
	}
	if !(moved < still) {
		t.Errorf("the last step has the size %g, too large at a minimum", moved)
	}
	for i := range particles {
		theta[0], theta[1] = append(theta[0], nu.at(0, i, 0)), append(theta[1], nu.at(0, i, 1))
	}
	return theta
}

// Particles approximate the posterior of logistic regression if they are anchored to draws of the prior and each
// particle has its own weights. The test has 200 data and takes the posterior from sums over a grid. The bootstrap
// is not exact: its mean is off by O(1/n). With 2,000 particles the error was measured as 0.006 at most, while the
// posterior's standard deviations are 0.15. The deviations of the bootstrap were off by 4% (Exponential) and 13%
// (Bernoulli, where a particle sees half of the data). With 300 particles the deviations have an error of 4% and more,
// with heavy tails: here up to 12%. The test therefore requires that means agree within 4 standard errors of the
// particles, about 0.036, and deviations within 30%.
//
// Perturbations of the paper's size, sigma_w = 1, do not match the noise of such responses: the variance of the noise
// is p (1 - p), at most 1/4. With the root of the mean of this variance, 0.4, perturbed responses do as well as
// weights. With 1 the functions spread three times too widely, and their mean was off by a third to a half of the
// posterior's deviation (0.055 and 0.085, with 2,000 particles).
func TestBayesianLogisticRegression(t *testing.T) {
	if testing.Short() {
		t.Skip("trains many particles")
	}
	const n, particles = 200, 300
	x, y := logisticData(n)
	mean, sd := logisticPosterior(x, y)
	for _, c := range []struct {
		weights      Weights
		perturbation float32
		posterior    bool
	}{{Exponential, 0, true}, {Bernoulli, 0, true}, {Unweighted, 0.4, true}, {Unweighted, 1, false}} {
		theta := anchoredParticles(t, x, y, particles, c.weights, c.perturbation)
		for i := range theta {
			m, s := stat.MeanStdDev(theta[i], nil)
			off, wider := math.Abs(m-mean[i])/(s/math.Sqrt(particles)), s/sd[i]
			what := fmt.Sprintf("weights %q, perturbation %v, theta_%d: %.3f, deviation %.3f; the posterior's %.3f and %.3f: "+
				"%.1f standard errors off", c.weights, c.perturbation, i, m, s, mean[i], sd[i], off)
			t.Log(what)
			if c.posterior && (off > 4 || math.Abs(wider-1) > 0.3) || !c.posterior && wider < 2 {
				t.Error(what)
			}
		}
	}
}
