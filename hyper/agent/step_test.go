package agent

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// mean returns mu, the mean of theta over z, of a linear hypermodel.
func (a *Agent) mean(t *testing.T) []float64 {
	t.Helper()
	mu := a.now.state[a.place("nu.0")].Tensor
	if mu.DType() == dtypes.Float64 {
		return tensors.MustCopyFlatData[float64](mu)
	}
	var out []float64
	for _, v := range tensors.MustCopyFlatData[float32](mu) {
		out = append(out, float64(v))
	}
	return out
}

// items returns a diagonal model of three items.
func items() hyper.Model {
	layout, table := hyper.PerParameter(3, 10), base.Tabular{Arms: 3}
	return hyper.Model{
		Base:  table,
		Hyper: hyper.Linear{Layout: layout, P: index.PerArm{Arms: 3, M: 10}},
		Prior: &hyper.Prior{Base: table, Layout: layout},
	}
}

// Beliefs about arms equal the exact posterior: with prior N(0, 1), noise of variance 1/4 and n likes of an item, the
// mean is 4 n / (4 n + 1).
func TestArmsLearnThePosterior(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		bandit := must.M1(New(Config{Learner: learner.Learner{
			Belief: items(), NoiseVariance: 0.25,
		}, Seed: 1, Backend: name}))
		for likes := 1; likes <= 12; likes++ {
			must.M(bandit.Told([]float32{0}, 1))
			n := 4 * float64(likes)
			if want, got := n/(n+1), bandit.mean(t); math.Abs(got[0]-want) > 1e-15 || got[1] != 0 || got[2] != 0 {
				t.Errorf("after %d likes of item 0 the means are %.5v, want %.5f, 0, 0", likes, got, want)
			}
		}
	})
}

// A step size with which arms diverge on their first datum is refused, and the error names the limit: here 2/(1/0.25 +
// 1) with all data, and 16/(16 + 12) of it with sampled indices.
func TestUnstableStepsAreRefused(t *testing.T) {
	for _, c := range []struct {
		train.Config
		limit float64
		named string
	}{
		{train.Config{Integrate: train.FullData}, 0.4, "up to 0.4"},
		{train.Config{Integrate: train.Sampled, Capacity: 9}, 0.4 * 16 / 28, "up to 0.2286"},
	} {
		for _, step := range []float64{0.99 * c.limit, 1.01 * c.limit, 0.5} {
			a, err := New(Config{Learner: learner.Learner{
				Belief: items(), Train: c.Config, StepSize: step, NoiseVariance: 0.25,
			}, Backend: backend.Go})
			if step > c.limit {
				if err == nil || !strings.Contains(err.Error(), c.named) || !strings.Contains(err.Error(), "train.Exact") {
					t.Errorf("%s, a step size of %v: got error %v, want one that names it and train.Exact",
						c.Integrate, step, err)
				}
				continue
			}
			must.M(err)
			must.M(a.Told([]float32{0}, 1))
			if mu := a.mean(t)[0]; math.Abs(mu-0.8) > 0.8 { // as far as at the start
				t.Errorf("%s, a step of %v: the mean after one like is %v, want 0.8", c.Integrate, step, mu)
			}
		}
	}
}

// The default step size of arms is at most half of the limit, even with little noise.
func TestDefaultStepIsStable(t *testing.T) {
	a := must.M1(New(Config{Learner: learner.Learner{
		Belief: items(), Train: train.Config{Integrate: train.FullData}, NoiseVariance: 1e-4,
	}, Backend: backend.Go}))
	must.M(a.Told([]float32{1}, 5))
	if mu := a.mean(t)[1]; math.Abs(mu-5/1.0001) > 1e-4 {
		t.Errorf("got the mean %v, want 5/1.0001", mu)
	}
}

// With features, the data bound the step: training with an absurd StepSize, and with data 100 times as large as the
// first, ends at the exact solution.
func TestDataBoundTheStep(t *testing.T) {
	line := base.Linear{Features: 2}
	model := hyper.Model{Base: line, Hyper: hyper.Linear{Layout: hyper.Dense(2, 3), P: index.Gaussian{N: 3}}}
	agents := map[train.Integration]*Agent{}
	for _, i := range []train.Integration{train.Exact, train.FullData, train.Sampled} {
		agents[i] = must.M1(New(Config{
			Learner: learner.Learner{
				Belief: model, StepSize: 1e9, NoiseVariance: 0.5, Train: train.Config{Integrate: i, Capacity: 40},
			},
			Features: 2,
			Backend:  backend.Go,
		}))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 40 {
		x := []float32{float32(r.NormFloat64()), float32(r.NormFloat64())}
		if i >= 20 {
			x[0], x[1] = 100*x[0], 100*x[1]
		}
		y := 2*x[0] - x[1] + float32(r.NormFloat64())
		for _, a := range agents {
			must.M(a.Told(x, y))
		}
	}
	want := agents[train.Exact].mean(t)
	for i, tolerance := range map[train.Integration]float64{train.FullData: 1e-4, train.Sampled: 0.05} {
		must.M(agents[i].Learn(context.Background(), 100))
		for j, got := range agents[i].mean(t) {
			if !(math.Abs(got-want[j]) < tolerance) {
				t.Errorf("%s: theta is %v, want %v", i, agents[i].mean(t), want)
				break
			}
		}
	}
}
