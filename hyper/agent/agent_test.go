package agent_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// TestMain makes short runs use the Go backend, which compiles sooner than XLA.
func TestMain(m *testing.M) {
	testbackend.CompileQuickly()
	flag.Parse()
	if testing.Short() && os.Getenv("HYPER_BACKEND") == "" {
		os.Setenv("HYPER_BACKEND", backend.Go)
	}
	os.Exit(m.Run())
}

// armsModel returns the hypermodel of section 4.1: K independent arms, each with m dimensions of the index.
func armsModel(arms, m int) hyper.Model {
	layout, table := hyper.PerParameter(arms, m), base.Tabular{Arms: arms}
	return hyper.Model{
		Base:  table,
		Hyper: hyper.Linear{Layout: layout, P: index.PerArm{Arms: arms, M: m}},
		Prior: &hyper.Prior{Base: table, Layout: layout},
	}
}

// A recommender chooses among three items, of which users like the last most often.
func Example() {
	bandit, ctx := must.M1(agent.Arms(3)), context.Background()
	likes, users, plays := []float64{0.2, 0.5, 0.8}, rand.New(rand.NewPCG(1, 2)), make([]int, 3)
	for range 300 {
		shown := must.M1(bandit.Act(ctx, nil))
		liked := float32(0)
		if users.Float64() < likes[shown.Action] {
			liked = 1
		}
		must.M(bandit.Observe(ctx, agent.Feedback{ID: shown.ID, Reward: liked}))
		plays[shown.Action]++
	}
	fmt.Println("shown most often: the last item:", plays[2] > 200)
	// Output: shown most often: the last item: true
}

// For a one-dimensional regression with an MLP, the spread of the sampled functions is large before data, and small at
// the data after training. Away from the data it is larger.
func TestRegressionTightensAtTheData(t *testing.T) {
	mlp := base.MLP{Layers: []int{1, 16, 1}, Activation: base.ActivationTanh}
	prior := base.MLP{Layers: []int{1, 16, 1}, Activation: base.ActivationTanh}
	n := hyper.NumTheta(mlp)
	a := must.M1(agent.New(agent.Config{
		Learner: learner.Learner{Belief: hyper.Model{
			Base:  mlp,
			Hyper: hyper.Linear{Layout: hyper.Dense(n, 8), P: index.Gaussian{N: 8}},
			Prior: &hyper.Prior{Base: prior, Layout: hyper.Dense(n, 8)},
		}, StepSize: 0.01, NoiseVariance: 0.1, Train: train.Config{Capacity: 32, Batch: 16, Steps: 1}},
		Features: 1,
		Seed:     3,
		Backend:  backend.Go,
	}))
	at := [][]float32{{-0.5}, {0.5}, {2.5}}
	before := spread(must.M1(a.Sample(at, 200)))
	for i := range 16 {
		x := float32(i)/16 - 0.5
		must.M(a.Add([]float32{x}, float32(math.Sin(3*float64(x)))))
	}
	must.M(a.Learn(context.Background(), 400))
	after := spread(must.M1(a.Sample(at, 200)))
	if !(after[0] < before[0]/2 && after[1] < before[1]/2) {
		t.Errorf("spread at the data: %.2f before and %.2f after training, want a large and a small one", before, after)
	}
	if !(after[2] > 2*after[1]) {
		t.Errorf("spread away from the data: got %.2f, want more than the %.2f at the data", after[2], after[1])
	}
}

// spread returns the standard deviation over functions of the predictions at each input.
func spread(values [][]float32) []float64 {
	out := make([]float64, len(values[0]))
	for i := range out {
		var sum, sum2 float64
		for _, f := range values {
			sum += float64(f[i])
			sum2 += float64(f[i]) * float64(f[i])
		}
		n := float64(len(values))
		out[i] = math.Sqrt(sum2/n - sum*sum/n/n)
	}
	return out
}

// An agent of any kind that is loaded from a file continues as the saved agent does.
func TestLoadGoesOnAsSaved(t *testing.T) {
	particles := hyper.Model{Base: net, Hyper: hyper.Ensemble{Particles: 4, Params: 13},
		Prior: &hyper.Prior{Base: net, Layout: hyper.Dense(13, 4)}}
	for name, c := range map[string]agent.Config{
		"exact arms":    {Learner: learner.Learner{Belief: armsModel(4, 3)}},
		"any scale":     agent.Config{}.Arms(4),
		"ensemble, SGD": {Features: 2, Learner: learner.Learner{Belief: particles, StepSize: 0.02}},
		"networks":      agent.Config{}.Neural(2, 3),
		"hypernetwork": {Features: 2, Learner: learner.Learner{
			Belief: hyper.Model{Base: net, Hyper: hyper.Network{P: gauss, Hidden: []int{3}, Params: 13}},
		}},
		"dropout": {Features: 2, Learner: learner.Learner{
			Belief: hyper.Model{Base: net, Hyper: hyper.Dropout{Net: net, Keep: 0.5}},
		}},
		"ensemble++": {Features: 2, Learner: learner.Learner{
			Belief: hyper.EnsemblePlusPlus{Features: 2, P: index.Paired{N: 4, Reference: index.LawCube, Noise: index.LawSphere}},
		}},
		"network and process": {Features: 2, Learner: learner.Learner{
			Belief: hyper.NetworkGP{Features: 2, Hidden: []int{3}, Waves: 6, Length: 1, PriorScale: 1},
		}},
		"mean field, KL": {Features: 2, Learner: learner.Learner{
			Belief: hyper.Model{Base: net, Hyper: hyper.MeanField{Params: 13}}, Perturbation: -1,
			Train: train.Config{Regularize: train.KL},
		}},
	} {
		c.Learner.Train.Capacity, c.Seed, c.Backend = 20, 5, backend.Go
		inputs := [][]float32{{0}, {1}, {2}, {3}}
		if c.Features > 0 {
			inputs = [][]float32{{0, 1}, {1, 0}, {-1, 1}}
		}
		a := must.M1(agent.New(c))
		for i := range 5 {
			must.M(a.Told(inputs[i%3], float32(i)))
		}
		path := filepath.Join(t.TempDir(), "agent")
		must.M(a.Save(path))
		b := must.M1(agent.Load(c, path))
		for i := range 5 {
			for _, x := range []*agent.Agent{a, b} {
				must.M(x.Told(inputs[i%3], 1))
			}
			da, db := must.M1(a.Act(context.Background(), inputs)), must.M1(b.Act(context.Background(), inputs))
			if !reflect.DeepEqual(da.Nameless(), db.Nameless()) {
				t.Fatalf("%s: decision %d: got %v from the original and %v from the loaded agent", name, i, da, db)
			}
		}
		if !reflect.DeepEqual(must.M1(a.Sample(inputs, 3)), must.M1(b.Sample(inputs, 3))) {
			t.Errorf("%s: samples of the loaded agent differ from the saved agent's", name)
		}
		c.Learner.Belief, c.Features = armsModel(5, 3), 0
		if _, err := agent.Load(c, path); err == nil || !strings.Contains(err.Error(), "a different configuration") {
			t.Errorf("%s: Load with another model: got error %v, want one about a different configuration", name, err)
		}
	}
}

func TestBadInput(t *testing.T) {
	a := must.M1(agent.New(agent.Config{
		Learner: learner.Learner{Belief: armsModel(2, 3), Train: train.Config{Capacity: 1, Integrate: train.Sampled}},
		Backend: backend.Go,
	}))
	nan := float32(math.NaN())
	for name, err := range map[string]error{
		"arm":      a.Told([]float32{2}, 0),
		"finite":   a.Told([]float32{0}, nan),
		"numbers":  a.Told([]float32{0, 1}, 0),
		"no data":  a.Learn(context.Background(), 1),
		"negative": a.Learn(context.Background(), -1),
	} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got error %v, want one that names the setting", name, err)
		}
	}
	_, err := agent.New(agent.Config{Learner: learner.Learner{
		Belief: armsModel(0, 3), Train: train.Config{Capacity: 1}, StepSize: -1,
	}, Backend: backend.Go})
	if err == nil || !strings.Contains(err.Error(), "StepSize") || !strings.Contains(err.Error(), "block") {
		t.Errorf("two faults: got error %v", err)
	}
}
