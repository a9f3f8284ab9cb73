package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// netModel returns a network with a dense linear hypermodel.
func netModel(features, hidden, width int, activation base.Activation) hyper.Model {
	net := base.MLP{Layers: []int{features, hidden, 1}, Activation: activation}
	return hyper.Model{Base: net, Hyper: hyper.Linear{Layout: hyper.Dense(hyper.NumTheta(net), width),
		P: index.Gaussian{N: width}}}
}

// An input on which training must diverge is refused, with or without a bound on gradients. The agent is unchanged: it
// decides, learns and is saved as an agent that never saw the input.
func TestOneAbsurdInput(t *testing.T) {
	for _, integrate := range []train.Integration{train.Sampled, train.FullData} {
		for _, clip := range []float64{0, 5} {
			for _, absurd := range []float32{1e20, 1e17} {
				name := fmt.Sprint(integrate, ", clip ", clip, ", input ", absurd)
				c := agent.Config{Learner: learner.Learner{
					Belief: lineModel(2, 3), StepSize: 0.05, Clip: clip,
					Train: train.Config{Capacity: 20, Integrate: integrate},
				}, Features: 2, Backend: backend.Go}
				a, b := must.M1(agent.New(c)), must.M1(agent.New(c))
				for _, x := range []*agent.Agent{a, b} {
					must.M(x.Told([]float32{1, 0}, 1))
				}
				good, before := filepath.Join(t.TempDir(), "agent"), filepath.Join(t.TempDir(), "before")
				must.M(b.Save(before))
				err := a.Told([]float32{absurd, 1}, 1)
				if absurd == 1e20 && !errors.Is(err, agent.ErrNotFinite) {
					t.Errorf("%s: got error %v, want ErrNotFinite", name, err)
				}
				if err == nil { // the bound on gradients holds
					continue
				}
				must.M(a.Save(good))
				if !bytes.Equal(must.M1(os.ReadFile(good)), must.M1(os.ReadFile(before))) {
					t.Errorf("%s: the refused call has changed the agent", name)
				}
				for _, x := range []*agent.Agent{a, b} {
					must.M(x.Told([]float32{0, 1}, -1))
				}
				x, y := must.M1(a.Act(context.Background(), [][]float32{{1, 0}, {0, 1}})),
					must.M1(b.Act(context.Background(), [][]float32{{1, 0}, {0, 1}}))
				if !reflect.DeepEqual(x.Nameless(), y.Nameless()) {
					t.Errorf("%s: got decision %v, want %v as from an agent that never saw the input", name, x, y)
				}
				must.M1(agent.Load(c, good))
			}
		}
	}
}

// Every method that trains with an absurd step size reports it, for any model. The agent is unchanged, also in its
// file. Add does not train, and succeeds. SGD on arms and lines bounds the step: see step_test.go.
func TestTrainingThatDiverges(t *testing.T) {
	for name, c := range map[string]agent.Config{
		"arms": {Learner: learner.Learner{
			Belief: armsModel(3, 2), Train: train.Config{Integrate: train.Sampled, Optimizer: train.Adam{}},
		}},
		"sums": {Learner: learner.Learner{
			Belief: armsModel(3, 2), Train: train.Config{Integrate: train.FullData, Optimizer: train.Adam{}},
		}},
		"ensemble": {Features: 1, Learner: learner.Learner{
			Belief: hyper.Model{Base: base.Linear{Features: 1}, Hyper: hyper.Ensemble{Particles: 4, Params: 1}},
			Train:  train.Config{Integrate: train.Analytic, Optimizer: train.Adam{}},
		}},
		"network": {Features: 1, Learner: learner.Learner{
			Belief: netModel(1, 8, 4, base.ActivationReLU), Train: train.Config{Integrate: train.Sampled},
		}},
	} {
		c.Learner.StepSize, c.Backend, c.Learner.Train.Capacity = 1e30, backend.Go, 10
		a := must.M1(agent.New(c))
		x := [][]float32{{1}, {2}}
		before := fmt.Sprintf("%#v", must.M1(must.M1(agent.New(c)).Act(context.Background(), x)).Nameless())
		if err := a.Told([]float32{1}, 1); !errors.Is(err, agent.ErrNotFinite) || a.Size() != 0 {
			t.Errorf("%s: Observe: got %d data and error %v, want 0 and ErrNotFinite", name, a.Size(), err)
		}
		must.M(a.Add([]float32{1}, 1))
		path := filepath.Join(t.TempDir(), "agent")
		must.M(a.Save(path))
		if err := a.Learn(context.Background(), 3); !errors.Is(err, agent.ErrNotFinite) || a.Size() != 1 {
			t.Errorf("%s: Train: got %d data and error %v, want 1 and ErrNotFinite", name, a.Size(), err)
		}
		if d := fmt.Sprintf("%#v", must.M1(a.Act(context.Background(), x)).Nameless()); d != before {
			t.Errorf("%s: decision %v after training that failed, %v before", name, d, before)
		}
		must.M(a.Save(path))
		must.M1(agent.Load(c, path))
	}
}

// Predictions that are not finite, from inputs that are too large, make no decision.
func TestActOnAbsurdInputs(t *testing.T) {
	a := must.M1(agent.New(agent.Config{Learner: learner.Learner{
		Belief: netModel(2, 8, 4, base.ActivationReLU), Train: train.Config{Capacity: 10},
	}, Features: 2, Backend: backend.Go}))
	for _, x := range []float32{1e20, 1e38} {
		if _, err := a.Act(context.Background(), [][]float32{{1, 0}, {x, -x}}); !errors.Is(err, agent.ErrNotFinite) {
			t.Errorf("input %v: got error %v, want ErrNotFinite", x, err)
		}
	}
}

// New reports initial parameters that are not finite.
func TestInitialParametersThatAreNotFinite(t *testing.T) {
	m := lineModel(2, 3)
	m.Prior.StdDev = []float64{1, 1e300}
	if _, err := agent.New(agent.Config{Learner: learner.Learner{
		Belief: m, Train: train.Config{Capacity: 10},
	}, Features: 2, Backend: backend.Go}); err == nil {
		t.Error("New with an infinite prior: got no error")
	}
}
