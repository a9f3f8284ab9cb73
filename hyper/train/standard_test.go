package train_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

var (
	line  = base.Linear{Features: 3, Intercept: true}
	dense = hyper.Dense(4, 5)
	some  = hyper.Layout{Sizes: []int{1, 3}, Width: 2}
	net   = base.MLP{Layers: []int{3, 4, 1}}
	table = base.Tabular{Arms: 3}
)

// believers holds a belief for each way to learn standardised responses.
var believers = map[string]struct {
	belief hyper.Model
	config train.Config
}{
	"exact, arms": {model(table, hyper.Linear{Layout: hyper.PerParameter(3, 4), P: index.PerArm{Arms: 3, M: 4}},
		hyper.PerParameter(3, 4)), train.Config{Integrate: train.Exact}},
	"exact, line": {model(line, hyper.Linear{Layout: dense, P: index.Gaussian{N: 5}}, dense),
		train.Config{Integrate: train.Exact}},
	"exact, blocks": {model(line, hyper.Linear{Layout: some, P: index.Gaussian{N: 4}}, some),
		train.Config{Integrate: train.Exact}},
	"exact, ensemble": {model(line, hyper.Ensemble{Particles: 5, Params: 4}, dense),
		train.Config{Integrate: train.Exact}},
	"exact, one-hot": {model(line, hyper.Linear{Layout: dense, P: index.OneHot{N: 5}}, dense),
		train.Config{Integrate: train.Exact}},
	"closed form": {model(line, hyper.Linear{Layout: dense, P: index.Gaussian{N: 5}}, dense),
		train.Config{Integrate: train.Analytic}},
	"sums":     {model(table, hyper.Ensemble{Particles: 5, Params: 3}, hyper.Dense(3, 5)), train.Config{}},
	"features": {model(line, hyper.Ensemble{Particles: 5, Params: 4}, hyper.Dense(4, 5)), train.Config{}},
	"own gradient, adam": {model(net, hyper.Ensemble{Particles: 5, Params: 21}, hyper.Dense(21, 5)),
		train.Config{Optimizer: train.Adam{}}},
}

func model(b hyper.BaseModel, h hyper.Hypermodel, prior hyper.Layout) hyper.Model {
	return hyper.Model{Base: b, Hyper: h, Prior: &hyper.Prior{Base: b, Layout: prior}}
}

// learned returns nu, and predictions in the units of the responses, after all data and, if the belief trains by steps,
// after a period.
func learned(t *testing.T, m hyper.Model, c train.Config, y []float64) [][]float64 {
	t.Helper()
	c.Steps, c.Batch, c.Indices, c.Capacity = 3, 6, 4, len(y)
	if m.Inputs() > 0 {
		c.Inputs = m.Inputs()
	}
	tr := train.Trainer{Belief: m, Config: c}
	must.M(tr.Validate(m))
	r := rand.New(rand.NewPCG(1, 2))
	return testbackend.Eval[float64](t, backend.Go, func(in []*Node) []*Node {
		g, s := in[0].Graph(), rng.New(in[0])
		one := func(x float64) *Node { return Const(g, []float32{float32(x)}) }
		rates := train.Rates{Step: one(0.02), NoiseVar: one(0.5), PriorVar: one(2), Perturbation: one(0.7)}
		state := tr.Init(s.Named("init"), nil)
		var x *Node
		for i, y := range y {
			x = Const(g, []int32{int32(r.IntN(3))})
			if c.Inputs > 0 {
				x = Const(g, [][]float32{{float32(r.NormFloat64()), float32(r.NormFloat64()), 1}})
			}
			at := Const(g, int32(i))
			state = tr.Observe(state, s.At(at), at, x, one(y), nil, rates)
		}
		state = tr.Train(state, s.Named("train"), Const(g, int32(len(y))), nil, rates)
		p := tr.Params(state)
		x = InsertAxes(x, 1)
		if c.Inputs == 0 {
			x = InsertAxes(x, -1)
		}
		return append(p.Nu, tr.Responses(state, m.Predict(p, m.Index().Sample(s.Named("z"), 3), x)))
	}, []uint64{7})
}

// Training on responses as they come gives the same result as training on responses that were standardised beforehand
// by their final mean and standard deviation. Predictions are in units of the responses. The test has many responses,
// one, and responses that are all equal. Single precision has an error of 2^-24 for an offset of 1,000 deviations,
// which is 6e-5 deviations.
func TestStandardized(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	many := make([]float64, 12)
	for i := range many {
		many[i] = float64(float32(3e-4 * (1000 + r.NormFloat64())))
	}
	for name, b := range believers {
		for i, y := range [][]float64{many, many[:1], {5e3, 5e3, 5e3}} {
			if i > 0 && testing.Short() {
				break
			}
			mean, sd := stat.MeanStdDev(y, nil)
			if !(sd > 0) {
				sd = 1
			}
			standard := make([]float64, len(y))
			for i := range y {
				standard[i] = (y[i] - mean) / sd
			}
			c := b.config
			want := learned(t, b.belief, c, standard)
			c.Standardize = true
			got := learned(t, b.belief, c, y)
			last := len(want) - 1
			for i, w := range want[last] {
				want[last][i], got[last][i] = w, (got[last][i]-mean)/sd
			}
			for i := range want {
				for j, w := range want[i] {
					if math.Abs(got[i][j]-w) > 2e-4*(1+math.Abs(w)) {
						t.Fatalf("%s, %d data, output %d: %v, want %v", name, len(y), i, got[i], want[i])
					}
				}
			}
		}
	}
}

// Exact keeps its knowledge of responses in double precision. With an offset of 100 deviations and 100 data, the
// difference from retraining is no more than the rounding of the responses.
func TestStandardizedDoesNotDrift(t *testing.T) {
	if testing.Short() {
		t.Skip("learns 100 data in one program")
	}
	r := rand.New(rand.NewPCG(5, 6))
	y := make([]float64, 100)
	for i := range y {
		y[i] = float64(float32(100 + r.NormFloat64()))
	}
	mean, sd := stat.MeanStdDev(y, nil)
	standard := make([]float64, len(y))
	for i := range y {
		standard[i] = (y[i] - mean) / sd
	}
	b := believers["exact, line"]
	want := learned(t, b.belief, train.Config{Integrate: train.Exact}, standard)
	got := learned(t, b.belief, train.Config{Integrate: train.Exact, Standardize: true}, y)
	for i := range want[0] {
		if math.Abs(got[0][i]-want[0][i]) > 1e-6 {
			t.Errorf("mu is %v, want %v", got[0], want[0])
			break
		}
	}
}

func TestStandardizeIsRefused(t *testing.T) {
	m := believers["exact, line"].belief
	c := train.Config{Steps: 1, Batch: 1, Indices: 1, Capacity: 1, Standardize: true}
	c.Integrate = train.FullData
	if err := c.Validate(m); err == nil || !strings.Contains(err.Error(), "Standardize cannot") {
		t.Errorf("full data: got error %v, want one about Standardize", err)
	}
	c.Integrate, c.Loss = train.Sampled, cubic{}
	if err := c.Validate(m); err == nil || !strings.Contains(err.Error(), "Standardize needs a quadratic loss") {
		t.Errorf("loss that is not quadratic: got error %v, want one about Standardize", err)
	}
}

// cubic is a loss that is not quadratic.
type cubic struct{ train.Gaussian }

func (cubic) Quadratic() bool { return false }
