package agent_test

import (
	"context"
	"flag"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

var allDefaults = flag.Bool("defaults.all", false, "all agents of TestDefaultsLearn learn all problems")

// problem is a regression. Features and responses are standardised before an agent sees them.
type problem struct {
	name    string
	size    int
	inputs  int
	x       func(r *rand.Rand, x []float64) // a row of features
	y       func(r *rand.Rand, x []float64) float64
	learned float64 // what the root mean square error elsewhere must be below, in deviations of y; some cannot be learned by a line, or from few data
}

func normals(r *rand.Rand, x []float64) {
	for i := range x {
		x[i] = r.NormFloat64()
	}
}

// speeds and stopping distances of 50 cars (Ezekiel, Methods of Correlation Analysis, 1930; R's data set cars).
var (
	speeds = []float64{4, 4, 7, 7, 8, 9, 10, 10, 10, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15, 15,
		16, 16, 17, 17, 17, 18, 18, 18, 18, 19, 19, 19, 20, 20, 20, 20, 20, 22, 23, 24, 24, 24, 24, 25}
	distances = []float64{2, 10, 4, 22, 16, 10, 18, 26, 34, 17, 28, 14, 20, 24, 28, 26, 34, 34, 46, 26, 36, 60, 80, 20, 26,
		54, 32, 40, 32, 40, 50, 42, 56, 76, 84, 36, 46, 68, 32, 48, 52, 56, 64, 66, 54, 70, 92, 93, 120, 85}
)

var problems = []problem{
	{"linear, huge and tiny scales", 80, 4, func(r *rand.Rand, x []float64) {
		normals(r, x)
		x[0], x[1], x[2] = 1e9*x[0]+3e9, 1e-9*x[1], 1e4*x[2]-5
	}, func(r *rand.Rand, x []float64) float64 {
		return 1e6 * (x[0]/1e9 - x[1]*1e9 + x[2]/2e4 + 0.5*r.NormFloat64())
	}, 0.6},
	{"sinusoid", 80, 1, normals, func(r *rand.Rand,
		x []float64) float64 {
		return math.Sin(2*x[0]) + 0.2*r.NormFloat64()
	}, 1.2},
	{"step", 80, 2, normals, func(r *rand.Rand, x []float64) float64 {
		return math.Copysign(1,
			x[0]+0.3*x[1]) + 0.1*r.NormFloat64()
	}, 0.7},
	{"heavy tails", 80, 3, normals, func(r *rand.Rand, x []float64) float64 {
		return x[0] + x[1] + 0.3*r.NormFloat64()/math.Sqrt(r.ExpFloat64()) // Student's t with two degrees of freedom
	}, 0.8},
	{"correlated features", 80, 8, func(r *rand.Rand, x []float64) {
		normals(r, x)
		for i := 1; i < len(x); i++ {
			x[i] = x[0] + 0.1*x[i]
		}
	}, func(r *rand.Rand, x []float64) float64 { return x[0] + 5*(x[1]-x[2]) + 0.3*r.NormFloat64() }, 0.8},
	{"rare features", 80, 6, func(r *rand.Rand, x []float64) {
		for i := range x {
			x[i] = 0
			if r.Float64() < 0.03*float64(i+1) {
				x[i] = 1
			}
		}
	}, func(r *rand.Rand, x []float64) float64 { return 3*x[5] - 2*x[4] + x[1] + 0.3*r.NormFloat64() }, 0.75},
	{"constant", 40, 3, normals, func(*rand.Rand, []float64) float64 { return 7 }, 0.5},
	{"many features", 60, 40, normals, func(r *rand.Rand,
		x []float64) float64 {
		return x[0] + x[1] - x[2] + 0.3*r.NormFloat64()
	}, 1.3},
	{"few data", 8, 2, normals, func(r *rand.Rand, x []float64) float64 { return x[0] + 0.2*r.NormFloat64() }, 1.1},
	{"cars", 50, 1, nil, nil, 0.7},
}

// made draws the data, and standardises them.
func (p problem) made(n int, r *rand.Rand) (x [][]float32, y []float32) {
	rows, ys := make([][]float64, n), make([]float64, n)
	for i := range rows {
		rows[i] = make([]float64, p.inputs)
		if p.x == nil {
			rows[i][0], ys[i] = speeds[i*7%50], distances[i*7%50]
			continue
		}
		p.x(r, rows[i])
		ys[i] = p.y(r, rows[i])
	}
	x, y = make([][]float32, n), make([]float32, n)
	for j := range p.inputs {
		column := make([]float64, n)
		for i, row := range rows {
			column[i] = row[j]
		}
		for i, v := range standardised(column) {
			x[i] = append(x[i], float32(v))
		}
	}
	for i, v := range standardised(ys) {
		y[i] = float32(v)
	}
	return x, y
}

func standardised(x []float64) []float64 {
	mean, sd := stat.PopMeanStdDev(x, nil)
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v - mean
		if sd > 0 {
			out[i] /= sd
		}
	}
	return out
}

// believers returns models with all defaults, for a number of features.
func believers(features int) map[string]func(c *agent.Config) {
	relu := base.MLP{Layers: []int{features, 10, 1}}
	deep := base.MLP{Layers: []int{features, 8, 8, 1}, Activation: base.ActivationTanh}
	line := base.Linear{Features: features}
	linear := func(b hyper.BaseModel) hyper.Hypermodel {
		return hyper.Linear{Layout: hyper.Dense(hyper.NumTheta(b), 8), P: index.Gaussian{N: 8}}
	}
	prior := func(b hyper.BaseModel, n int) *hyper.Prior {
		return &hyper.Prior{Base: b, Layout: hyper.Dense(hyper.NumTheta(b), n)}
	}
	set := func(m hyper.Model, more ...func(c *agent.Config)) func(c *agent.Config) {
		return func(c *agent.Config) {
			c.Learner.Belief = m
			for _, f := range more {
				f(c)
			}
		}
	}
	return map[string]func(c *agent.Config){
		"linear, MLP":           set(hyper.Model{Base: relu, Hyper: linear(relu), Prior: prior(relu, 8)}),
		"linear, deep tanh":     set(hyper.Model{Base: deep, Hyper: linear(deep), Prior: prior(deep, 8)}),
		"linear, MLP, no prior": set(hyper.Model{Base: relu, Hyper: linear(relu)}),
		"ensemble, MLP": set(hyper.Model{Base: relu, Hyper: hyper.Ensemble{Particles: 8,
			Params: hyper.NumTheta(relu)}, Prior: prior(relu, 8)}),
		"network, MLP": set(hyper.Model{Base: relu, Hyper: hyper.Network{P: index.Gaussian{N: 4}, Hidden: []int{8},
			Params: hyper.NumTheta(relu)},
			Prior: prior(relu, 4)}),
		"mean field, MLP, KL": set(hyper.Model{Base: relu, Hyper: hyper.MeanField{Params: hyper.NumTheta(relu)}},
			func(c *agent.Config) { c.Learner.Train.Regularize, c.Learner.Perturbation = train.KL, -1 }),
		"dropout": set(hyper.Model{Base: relu, Hyper: hyper.Dropout{Net: relu, Keep: 0.8}}),
		"network, linear base": set(hyper.Model{Base: line, Hyper: hyper.Network{P: index.Gaussian{N: 4}, Hidden: []int{8},
			Params: features},
			Prior: prior(line, 4)}),
		"linear, linear base": set(hyper.Model{Base: line, Hyper: linear(line), Prior: prior(line, 8)}),
		"ensemble, linear base": set(hyper.Model{Base: line, Hyper: hyper.Ensemble{Particles: 8, Params: features},
			Prior: prior(line, 8)}),
	}
}

// learn shows an agent the data in rounds, with as many rounds of training as data. It returns root mean square errors
// at the data and elsewhere, and spreads.
func learn(t *testing.T, p problem, set func(c *agent.Config)) (seen, unseen, spreadSeen, spreadUnseen float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	n := p.size
	x, y := p.made(n, r)
	held := n / 4
	c := agent.Config{Learner: learner.Learner{
		Train: train.Config{Capacity: n},
	}, Features: p.inputs, Backend: backend.Go, Seed: 1}
	set(&c)
	a := must.M1(agent.New(c))
	const rounds = 4
	for k := range rounds {
		from, to := held+(n-held)*k/rounds, held+(n-held)*(k+1)/rounds
		for i := from; i < to; i++ {
			must.M(a.Add(x[i], y[i]))
		}
		must.M(a.Learn(context.Background(), to-from))
	}
	f := must.M1(a.Sample(x, 50))
	measure := func(from, to int) (rmse, sd float64) {
		for i := from; i < to; i++ {
			var v []float64
			for _, one := range f {
				v = append(v, float64(one[i]))
			}
			mean, s := stat.PopMeanStdDev(v, nil)
			rmse += (mean - float64(y[i])) * (mean - float64(y[i]))
			sd += s * s
		}
		return math.Sqrt(rmse / float64(to-from)), math.Sqrt(sd / float64(to-from))
	}
	seen, spreadSeen = measure(held, n)
	unseen, spreadUnseen = measure(0, held)
	return seen, unseen, spreadSeen, spreadUnseen
}

// Agents of every kind, with all defaults, learn standardised data: they stay finite, fit the data better than their
// mean does, are not much worse than the mean elsewhere, and their spread is neither 0 nor wider than the prior's. Each
// agent learns one problem; -defaults.all is all.
func TestDefaultsLearn(t *testing.T) {
	for i, name := range slices.Sorted(maps.Keys(believers(1))) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for j, p := range problems {
				if !*allDefaults && ((i+j)%10 > 0 || testing.Short() && p.name != "cars") {
					continue
				}
				seen, unseen, spreadSeen, spreadUnseen := learn(t, p, believers(p.inputs)[name])
				if !(seen < 0.9 && unseen < p.learned) {
					t.Errorf("%s: root mean square error %.2f at the data and %.2f elsewhere, want below 0.9 and %.2f", p.name, seen,
						unseen, p.learned)
				}
				if !(spreadSeen > 0.02 && spreadSeen < 1.25 && spreadUnseen < 1.4) {
					t.Errorf("%s: spread %.2f at the data and %.2f elsewhere", p.name, spreadSeen, spreadUnseen)
				}
			}
		})
	}
}
