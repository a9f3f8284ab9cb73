package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
)

// trained is a trainer with data, and the oracle's result for each run.
type trained struct {
	*machine
	want [problemRuns][]array
}

// trainOn gives a trainer data with random actions. The step size is step/lambda_max, where lambda_max is the loss's
// largest curvature with respect to mu, or to a particle: each particle has a share of 1/N in the mean over z.
func trainOn(t *testing.T, name string, tr Trainer, data int, step float64) trained {
	t.Helper()
	const inputs = 3
	r := rand.New(rand.NewPCG(7, uint64(data)))
	p := trial{model: modelOf(tr), size: float64(data), noiseVar: []float64{1.25, 1.75}, priorVar: []float64{0.75, 0.5},
		perturbation: []float64{0.75, 1.5}}
	rates := [4][]float32{{0, 0}, {1.25, 1.75}, {0.75, 0.5}, {0.75, 1.5}}
	actions := randomArray(r, 1, problemRuns, inputs, featuresOf(modelOf(tr).Base))
	chosen, y := randomInts(r, inputs, data, problemRuns), randomArray(r, 1, data, problemRuns)
	observe := func(tr Trainer) *machine {
		m := newMachine(t, name, tr, []uint64{21, 22}, rates, &actions)
		for i := range data {
			m.add([]int32{int32(chosen.at(i, 0)), int32(chosen.at(i, 1))}, []float32{float32(y.at(i, 0)), float32(y.at(i, 1))})
		}
		return m
	}
	// A trainer with a replay buffer keeps the vectors A_t in it. The vectors depend only on seed and period.
	buffered := tr
	buffered.Config = Config{Integrate: Sampled, Steps: 1, Batch: 1, Indices: 1, Capacity: data}
	a := observe(buffered).get("replay.a")[0]
	p.a = newArray(problemRuns, data, a.dims[2])
	for run := range problemRuns {
		copy(p.a.sub(run).v, a.sub(run).v)
	}

	m := observe(tr)
	p.y, p.x = newArray(problemRuns, data), newArray(problemRuns, data, featuresOf(modelOf(tr).Base))
	for i := range data {
		for run := range problemRuns {
			action := int(chosen.at(i, run))
			p.y.sub(run).v[i] = y.at(i, run)
			copy(p.x.sub(run, i).v, actions.sub(run, action).v)
			if _, ok := modelOf(tr).Base.(base.Tabular); ok {
				p.x.sub(run, i).v[0] = float64(action)
			}
		}
	}
	if modelOf(tr).Prior != nil {
		p.prior = m.prior()
	}
	p.nu0 = m.all("anchor")
	out := trained{machine: m}
	for run := range problemRuns {
		o := oracleOf(t, p, run)
		m.rates[0][run] = float32(step * p.size / steepest(t, o))
		if h, ok := modelOf(tr).Hyper.(hyper.Ensemble); ok {
			m.rates[0][run] *= float32(h.Particles)
		}
		out.want[run] = p.minimise(t, o, run)
	}
	return out
}

// steepest returns the largest eigenvalue of Phi^T Phi/sigma_w^2 + I/sigma_p^2.
func steepest(t testing.TB, o Oracle) float64 {
	t.Helper()
	var e mat.EigenSym
	if !e.Factorize(o.gram(), false) {
		t.Fatal("the eigenvalues cannot be computed")
	}
	values := e.Values(nil)
	return values[len(values)-1] + 1/o.PriorVar
}

// trainable returns models that have an exact gradient and a minimiser from the oracle.
func trainable() []namedModel {
	arms, line := base.Tabular{Arms: 3}, base.Linear{Features: 3}
	diagonal, uneven := hyper.PerParameter(3, 2), hyper.Layout{Sizes: []int{1, 2}, Width: 2}
	gaussianRows := ensembleOf(arms, 4, hyper.Dense(3, 4))
	gaussianRows.Prior.Rows = hyper.RowsGaussian
	return []namedModel{
		{"arms, per arm", affineIn(arms, diagonal, index.PerArm{Arms: 3, M: 2}, diagonal)},
		{"arms, ensemble", gaussianRows},
		{"line, dense", affineIn(line, hyper.Dense(3, 4), index.Gaussian{N: 4}, hyper.Dense(3, 4))},
		{"line, uneven blocks, sphere", affineIn(line, uneven, index.Sphere{N: 4}, uneven)},
		{"line, ensemble", ensembleOf(line, 4, hyper.Dense(3, 4))},
	}
}

// With all data and the expectation over z in each step, SGD is gradient descent, and ends at the oracle's minimiser to
// single precision.
func TestFullDataReachesTheOracle(t *testing.T) {
	for i, m := range trainable() {
		for _, name := range sometimesXLA(i) {
			t.Run(m.name+"/"+name, func(t *testing.T) {
				tr := Trainer{m.Model, Config{Steps: 4, Capacity: 8, Integrate: FullData}}
				run := trainOn(t, name, tr, 8, 1)
				for period := range 100 {
					run.train(period)
				}
				run.compare(t, 2e-6)
			})
		}
	}
}

// With a single datum, every minibatch is that datum 16 times. Analytic training is then gradient descent too, with
// |D|/|D~| = 1/16. Adam makes steps of about alpha for each parameter and comes to rest only roughly. Adamax is slower,
// and RMSProp keeps going back and forth: both end within some steps of the minimiser.
func TestAnalyticReachesTheOracleOfOneDatum(t *testing.T) {
	for _, m := range trainable() {
		for name, optimizer := range optimizers() {
			if name != "SGD" && testing.Short() {
				continue
			}
			t.Run(m.name+"/"+name, func(t *testing.T) {
				tr := Trainer{m.Model, Config{Steps: 4, Batch: 16, Capacity: 3, Integrate: Analytic, Optimizer: optimizer}}
				run := trainOn(t, backend.Go, tr, 1, 1)
				tolerance := 2e-5
				if name != "SGD" {
					run.rates[0], tolerance = []float32{0.01, 0.01}, 0.03
				}
				if name == "Adam" {
					tolerance = 1e-3
				}
				for period := range 200 {
					run.train(period)
				}
				run.compare(t, tolerance)
			})
		}
	}
}

func (m trained) compare(t *testing.T, tolerance float64) {
	t.Helper()
	nu := m.nu()
	for r := range problemRuns {
		near(t, fmt.Sprintf("nu of run %d", r), ofRun(nu, r), concatenated(m.want[r]), tolerance)
	}
}

func concatenated(arrays []array) []float64 {
	var out []float64
	for _, a := range arrays {
		out = append(out, a.v...)
	}
	return out
}

// With constant steps on a quadratic loss, the iterates of perturbed SGD settle into a stationary distribution with the
// minimiser as its mean, exactly: the expected change of a step is -alpha (H nu - b), which must be 0 at the mean nu.
// The average of the iterates must therefore be within its own standard error of the oracle. The standard error is
// estimated from 16 batch means, and the bound is 6 standard errors (Student's t with 15 degrees of freedom exceeds 6
// with probability 2e-5). The standard error must be small, because a large one would let every result pass.
func TestSGDAveragesToTheOracle(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for long")
	}
	for i, m := range trainable() {
		for _, integrate := range []Integration{Sampled, Analytic} {
			for _, name := range sometimesXLA(i) {
				if name != backend.Go && integrate == Analytic {
					continue // XLA takes seconds to compile this case
				}
				t.Run(fmt.Sprintf("%s/%s/%s", m.name, integrate, name), func(t *testing.T) {
					tr := Trainer{m.Model, Config{Steps: 5, Batch: 16, Indices: 8, Capacity: 8, Integrate: integrate}}
					run := trainOn(t, name, tr, 8, 0.2)
					const batches, periods, warmUp = 16, 25, 100
					for period := range warmUp {
						run.train(period)
					}
					var means [problemRuns][][]float64
					for b := range batches {
						sum := [problemRuns][]float64{}
						for period := range periods {
							run.train(warmUp + b*periods + period)
							for r, nu := 0, run.nu(); r < problemRuns; r++ {
								sum[r] = addScaled(sum[r], 1.0/periods, ofRun(nu, r))
							}
						}
						for r := range sum {
							means[r] = append(means[r], sum[r])
						}
					}
					for r := range problemRuns {
						withinError(t, fmt.Sprintf("mean nu of run %d", r), means[r], concatenated(run.want[r]), 0.06)
					}
				})
			}
		}
	}
}

func addScaled(sum []float64, scale float64, v []float64) []float64 {
	if sum == nil {
		sum = make([]float64, len(v))
	}
	for i := range v {
		sum[i] += scale * v[i]
	}
	return sum
}

// withinError reports means over batches that are more than 6 standard errors off, or that have a standard error above
// limit.
func withinError(t *testing.T, what string, batches [][]float64, want []float64, limit float64) {
	t.Helper()
	column := make([]float64, len(batches))
	worst, largest := 0.0, 0.0
	for i := range want {
		for b := range batches {
			column[b] = batches[b][i]
		}
		mean, sd := stat.MeanStdDev(column, nil)
		se := sd / math.Sqrt(float64(len(batches)))
		if d := math.Abs(mean - want[i]); d > 6*se+single {
			t.Errorf("%s: entry %d is %.4f +- %.4f, want %.4f", what, i, mean, se, want[i])
		}
		worst, largest = max(worst, math.Abs(mean-want[i])/(se+single)), max(largest, se)
	}
	if largest > limit {
		t.Errorf("%s: got a standard error of %.3f, which is too large for a test", what, largest)
	}
	t.Logf("%s: at most %.1f standard errors off, which are at most %.4f", what, worst, largest)
}
