package hyper

import (
	"math"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

var (
	arms = base.Tabular{Arms: 3}
	net  = base.MLP{Layers: []int{2, 3, 1}, Activation: base.ActivationTanh} // 13 parameters
	line = base.Linear{Features: 2}
)

// models has a model with each hypermodel and with each kind of prior. Inputs have 2 features, or are arms.
var models = map[string]Model{
	"per arm": {arms, Linear{Layout: PerParameter(3, 2), P: index.PerArm{Arms: 3, M: 2}},
		&Prior{Base: arms, Layout: PerParameter(3, 2)}},
	"arms, ensemble": {arms, Ensemble{Particles: 4, Params: 3},
		&Prior{Base: arms, Layout: Dense(3, 4), Rows: RowsGaussian}},
	"line, dense": {line, Linear{Layout: Dense(2, 3), P: index.Gaussian{N: 3}},
		&Prior{Base: line, Layout: Dense(2, 3)}},
	"line, MLP prior": {line, Linear{Layout: Dense(2, 3), P: index.Gaussian{N: 3}},
		&Prior{Base: net, Layout: Dense(13, 3)}},
	"MLP, per group": {net, Linear{Layout: PerGroup(net, 2), P: index.Sphere{N: 4}},
		&Prior{Base: net, Layout: Dense(13, 4)}},
	"MLP, ensemble": {net, Ensemble{Particles: 4, Params: 13}, &Prior{Base: net, Layout: Dense(13, 4)}},
	"MLP, network": {net, Network{P: index.Gaussian{N: 3}, Hidden: []int{4}, Params: 13},
		&Prior{Base: net, Layout: Dense(13, 3)}},
	"blocks of ensemble": {line, Ensemble{Particles: 4, Params: 2}, &Prior{Base: line, Layout: PerParameter(2, 2)}},
}

// modelsFor returns all models for the Go backend, and two for XLA, which takes a second to compile a model with its
// random numbers.
func modelsFor(name string) map[string]Model {
	if name == backend.Go {
		return models
	}
	return map[string]Model{"arms, ensemble": models["arms, ensemble"], "MLP, per group": models["MLP, per group"]}
}

const runs, inputs = 2, 3

// made returns a model's parameters, moved from their initial values, and inputs.
func made(m Model, s rng.Stream) (p Params, x *Node) {
	p = m.Init(s, nil)
	for i, v := range p.Nu {
		p.Nu[i] = Add(v, MulScalar(s.Named("move").Step(i).Normal(v.Shape().Dimensions[1:]...), 0.3))
	}
	if _, ok := m.Base.(base.Tabular); ok {
		return p, s.Named("x").Intn(Const(s.Graph(), int32(3)), inputs, 1)
	}
	return p, s.Named("x").Normal(inputs, 2)
}

// priorOf returns the entries of D B, [runs, N_theta, Width].
func priorOf(p Params) *Node {
	if theta := p.Fixed[priorTheta]; theta != nil {
		return Transpose(theta, 1, 2)
	}
	return p.Fixed[priorMatrix]
}

// take returns the given rows of v along an axis.
func take(v *Node, axis int, rows ...int) *Node {
	var parts []*Node
	for _, i := range rows {
		parts = append(parts, SliceAxis(v, axis, AxisRange(i, i+1)))
	}
	return Concatenate(parts, axis)
}

// one returns index i of a set, as a set.
func one(z index.Set, i int) index.Set {
	if z.ID != nil {
		z.ID, z.Every = take(z.ID, 1, i), false
	} else {
		z.Vector = take(z.Vector, 1, i)
	}
	return z
}

// Predictions at several indices equal the predictions at each index alone. To permute the inputs is to permute the
// predictions.
func TestPredictions(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		var names []string
		out := eval(t, name, func(in []*Node) (out []*Node) {
			for what, m := range modelsFor(name) {
				if err := m.Validate(); err != nil {
					t.Errorf("%s: got error %v, want none", what, err)
				}
				names = append(names, what)
				s := rng.New(in[0]).Named(what)
				p, x := made(m, s)
				z := m.Index().Sample(s.Named("z"), 3)
				all := m.Predict(p, z, x)
				alone := Concatenate([]*Node{m.Predict(p, one(z, 0), x), m.Predict(p, one(z, 1), x), m.Predict(p, one(z, 2), x)}, 1)
				out = append(out, all, alone, take(all, 2, 2, 0, 1), m.Predict(p, z, take(x, 1, 2, 0, 1)))
			}
			return out
		}, []uint64{1, 2})
		for i, what := range names {
			same(t, what+": indices one at a time", out[4*i+1], out[4*i], single)
			same(t, what+": inputs permuted", out[4*i+3], out[4*i+2], single)
		}
	})
}

// On the Go backend, a run in a batch predicts exactly what the run predicts alone.
func TestPredictionsOfABatchOfRuns(t *testing.T) {
	for what, m := range models {
		predict := func(in []*Node) []*Node {
			s := rng.New(in[0])
			p, x := made(m, s)
			return []*Node{m.Predict(p, m.Index().Sample(s.Named("z"), 2), x), Sample(m, p, s.Named("sample"), 2, x)}
		}
		batch := eval(t, backend.Go, predict, []uint64{5, 6, 7})
		for run, seed := range []uint64{5, 6, 7} {
			alone := eval(t, backend.Go, predict, []uint64{seed})
			for i := range alone {
				n := len(alone[i])
				same(t, what, batch[i][run*n:(run+1)*n], alone[i], 0)
			}
		}
	}
}

// Without a prior, predictions are the base model at g_nu(z). With a prior, its predictions at D B z are added, and no
// gradient flows into it.
func TestAdditivePrior(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		var names []string
		out := eval(t, name, func(in []*Node) (out []*Node) {
			for what, m := range modelsFor(name) {
				names = append(names, what)
				s := rng.New(in[0]).Named(what)
				p, x := made(m, s)
				z := m.Index().Sample(s.Named("z"), 4)
				prior := Einsum("rnz,rpz->rnp", z.Dense(), m.Prior.Layout.Expand(priorOf(p)))
				sum := Add(m.Base.Apply(m.Hyper.Theta(p.Nu, z), x), m.Prior.Base.Apply(prior, x))
				all := m.Predict(p, z, x)
				var fixed []*Node // a model has only one
				for _, x := range p.Fixed {
					fixed = append(fixed, x)
				}
				grads := Gradient(ReduceAllSum(Square(all)), fixed[0], p.Nu[0])
				out = append(out, all, sum, grads[0], ReduceAllSum(Abs(grads[1])))
			}
			return out
		}, []uint64{3, 4})
		for i, what := range names {
			same(t, what+": sum", out[4*i], out[4*i+1], single)
			same(t, what+": gradient of the prior", out[4*i+2], make([]float64, len(out[4*i+2])), 0)
			if out[4*i+3][0] == 0 {
				t.Errorf("%s: the trained part has no gradient", what)
			}
		}
	})
}

// If Sample draws theta from its marginals, the predictions have the mean and the covariance of predictions at sampled
// indices. The bound is 5 standard errors of the difference of two samples of n Gaussian values: sd sqrt(2/n) and
// sqrt(2 (v_i v_j + v_ij^2) / n).
func TestSampleHasTheLawOfPredict(t *testing.T) {
	const n = 20_000
	diagonal := PerParameter(3, 2)
	for what, m := range map[string]Model{
		"per arm":            models["per arm"],
		"Gaussian, diagonal": {arms, Linear{Layout: diagonal, P: index.Gaussian{N: 6}}, nil},
		"line, diagonal": {line, Linear{Layout: PerParameter(2, 3), P: index.Gaussian{N: 6}},
			&Prior{Base: line, Layout: PerParameter(2, 3)}},
	} {
		out := eval(t, backend.Go, func(in []*Node) []*Node {
			s := rng.New(in[0])
			p, x := made(m, s)
			if _, ok := m.Base.(base.Tabular); ok {
				x = nil // all arms
			}
			if m.Capabilities().Marginals == nil {
				t.Errorf("%s: got no marginals", what)
			}
			return []*Node{Sample(m, p, s.Named("sample"), n, x), m.Predict(p, m.Index().Sample(s.Named("z"), n), x)}
		}, []uint64{8, 9})
		for run := range runs {
			compareMoments(t, what, n, out[0][run*n*inputs:(run+1)*n*inputs], out[1][run*n*inputs:(run+1)*n*inputs])
		}
	}
}

// compareMoments compares two samples of n points in 3 dimensions.
func compareMoments(t *testing.T, what string, n float64, got, want []float64) {
	t.Helper()
	gotMean, gotCov := moments(got)
	wantMean, wantCov := moments(want)
	for i := range inputs {
		if d := math.Abs(gotMean[i] - wantMean[i]); d > 5*math.Sqrt(2*wantCov[i][i]/n) {
			t.Errorf("%s: mean %d is %.4f, want %.4f", what, i, gotMean[i], wantMean[i])
		}
		for j := range inputs {
			bound := 5 * math.Sqrt(2*(wantCov[i][i]*wantCov[j][j]+wantCov[i][j]*wantCov[i][j])/n)
			if d := math.Abs(gotCov[i][j] - wantCov[i][j]); d > bound || wantCov[i][i] < 0.01 {
				t.Errorf("%s: covariance (%d, %d) is %.4f, want %.4f", what, i, j, gotCov[i][j], wantCov[i][j])
			}
		}
	}
}

func moments(v []float64) (mean [inputs]float64, cov [inputs][inputs]float64) {
	n := float64(len(v) / inputs)
	for i := range v {
		mean[i%inputs] += v[i] / n
	}
	for at := 0; at < len(v); at += inputs {
		for i := range inputs {
			for j := range inputs {
				cov[i][j] += (v[at+i] - mean[i]) * (v[at+j] - mean[j]) / n
			}
		}
	}
	return mean, cov
}

// A model has no marginals if the components of theta are not independent Gaussians.
func TestMarginalIsOnlyForIndependentGaussians(t *testing.T) {
	sphere := Model{arms, Linear{Layout: PerParameter(3, 2), P: index.Sphere{N: 6}}, nil}
	densePrior := Model{arms, Linear{Layout: PerParameter(3, 2), P: index.Gaussian{N: 6}},
		&Prior{Base: arms, Layout: Dense(3, 6)}}
	diagonalNet := Model{net, Linear{Layout: PerParameter(13, 1), P: index.Gaussian{N: 13}}, nil}
	for i, m := range []Model{sphere, densePrior, diagonalNet, models["line, dense"], models["arms, ensemble"],
		models["MLP, network"]} {
		if m.Capabilities().Marginals != nil {
			t.Errorf("model %d has marginals, want none", i)
		}
	}
}

// Validate reports every fault at once.
func TestValidateReportsAll(t *testing.T) {
	m := Model{line, Linear{Layout: Dense(3, 2), P: index.Gaussian{N: 5}}, &Prior{Base: line, Layout: Dense(2, 4)}}
	err := m.Validate()
	for _, want := range []string{"makes 3 parameters, but the base model has 2", "dimension 2, but p_z has 5",
		"dimension 4, but the hypermodel's has 5"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want also %q", err, want)
		}
	}
	for what, m := range map[string]Model{
		"Base is missing\nHyper is missing": {},
		"for 2 parameters": {line, Ensemble{Particles: 2, Params: 2},
			&Prior{Base: line, Layout: Dense(2, 2), StdDev: []float64{1}}},
		"choose gaussian": {line, Ensemble{Particles: 2, Params: 2},
			&Prior{Base: line, Layout: Dense(2, 2), Rows: 3}},
		"sizes must be positive": {line, Linear{Layout: Layout{[]int{2, 0}, 2},
			P: index.Gaussian{N: 4}}, nil},
		"the distribution of the index is missing": {line, Linear{Layout: Dense(2, 3)}, nil},
		"needs a tabular base model": {line, Linear{Layout: PerParameter(2, 3),
			P: index.PerArm{Arms: 2, M: 3}}, nil},
		"here of 2 arms": {arms, Network{P: index.PerArm{Arms: 2, M: 3}, Params: 3}, nil},
		// A prior without a base model is added to the parameters of the model's base model.
		"prior: the layout has 3 rows, but the base model has 2": {line, Ensemble{Particles: 2, Params: 2},
			&Prior{Layout: Dense(3, 2)}},
	} {
		if err := m.Validate(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %q", err, what)
		}
	}
}
