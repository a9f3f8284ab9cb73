package agent_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// lineModel returns a dense linear hypermodel of a linear base model, with a prior.
func lineModel(features, width int) hyper.Model {
	line, layout := base.Linear{Features: features}, hyper.Dense(features, width)
	return hyper.Model{
		Base:  line,
		Hyper: hyper.Linear{Layout: layout, P: index.Gaussian{N: width}, InitC: hyper.InitZeros},
		Prior: &hyper.Prior{Base: line, Layout: layout},
	}
}

// BenchmarkAct measures the cost of a decision by Thompson sampling with 1 and with 100 functions, for a linear model
// and a network.
func BenchmarkAct(b *testing.B) {
	net := base.MLP{Layers: []int{20, 10, 10, 1}}
	models := map[string]hyper.Model{
		"linear":  lineModel(20, 30),
		"network": {Base: net, Hyper: hyper.Linear{Layout: hyper.Dense(331, 30), P: index.Gaussian{N: 30}}},
	}
	for name, m := range models {
		for _, n := range []int{1, 30, 100, 300} {
			for _, on := range []string{backend.Go, backend.XLACPU} {
				b.Run(fmt.Sprintf("%s/functions=%d/%s", name, n, on), func(b *testing.B) {
					if backend.Check(on) != nil {
						b.Skip("no XLA plugin")
					}
					a := must.M1(agent.New(agent.Config{Learner: learner.Learner{
						Belief: m, Policy: explore.Thompson{N: n}, Train: train.Config{Capacity: 10},
					}, Features: 20, Backend: on}))
					x := make([][]float32, 50)
					for i := range x {
						x[i] = make([]float32, 20)
						x[i][i%20] = 1
					}
					must.M1(a.Act(context.Background(), x))
					for b.Loop() {
						must.M1(a.Act(context.Background(), x))
					}
				})
			}
		}
	}
}

// BenchmarkObserve measures the cost of a datum for an agent that keeps sums, and for an agent that keeps the data in a
// window, by the Capacity.
func BenchmarkObserve(b *testing.B) {
	for _, integrate := range []train.Integration{train.FullData, train.Sampled} {
		for _, capacity := range []int{1000, 100_000, 1_000_000} {
			for _, on := range []string{backend.Go, backend.XLACPU} {
				b.Run(fmt.Sprintf("%s/capacity=%d/%s", integrate, capacity, on), func(b *testing.B) {
					if backend.Check(on) != nil {
						b.Skip("no XLA plugin")
					}
					a := must.M1(agent.New(agent.Config{
						Learner: learner.Learner{
							Belief: lineModel(20, 10), StepSize: 0.01,
							Train: train.Config{Capacity: capacity, Integrate: integrate},
						},
						Features: 20,
						Backend:  on,
						Replay:   agent.Window,
					}))
					x := make([]float32, 20)
					x[3] = 1
					must.M(a.Told(x, 1))
					for b.Loop() {
						must.M(a.Told(x, 1))
					}
				})
			}
		}
	}
}
