package agent_test

import (
	"errors"
	"math"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// An agent that diverges, by an absurd step size, says so instead of deciding, whatever its policy; before its first datum, and with a step size
// that is none too large, it decides. Also the functions that Sample draws are not finite then: Act is right to refuse.
func TestActOfADivergedAgent(t *testing.T) {
	net, inputs := base.MLP{Layers: []int{2, 2, 1}}, [][]float32{{1, 0}, {0.5, -1}, {0.1, 0.2}}
	models := map[string]hyper.Model{
		"ensemble": {Base: net, Hyper: hyper.Ensemble{Particles: 4, Params: 9}},
		"linear":   {Base: net, Hyper: hyper.Linear{Layout: hyper.Dense(9, 2), P: index.Gaussian{N: 2}}},
	}
	for name, m := range models {
		for policy, p := range map[string]explore.Policy{"thompson": explore.Thompson{}, "ids": explore.IDS{N: 10}, "top-two": explore.TopTwo{}} {
			for _, c := range []struct {
				step float64
				want error
			}{{0.1, nil}, {1e30, agent.ErrNotFinite}} {
				a := must.M1(agent.New(agent.Config{
					Model: m, Features: 2, Policy: p, StepSize: c.step, Seed: 2, Backend: backend.Go, Train: train.Config{Capacity: 10},
				}))
				if d, err := a.Act(inputs); err != nil || d.Action < 0 || d.Action > 2 || len(d.Probabilities) != 3 {
					t.Fatalf("%s, %s: before data: %+v, error %v", name, policy, d, err)
				}
				for range 4 {
					must.M(a.Observe([]float32{1, 1}, 1))
				}
				d, err := a.Act(inputs)
				if !errors.Is(err, c.want) || (err == nil) != (d.Probabilities != nil) {
					t.Errorf("%s, %s, step size %v: %+v, error %v, want %v", name, policy, c.step, d, err, c.want)
				}
				finite := true
				for _, f := range must.M1(a.Sample(inputs, 10)) {
					for _, v := range f {
						finite = finite && !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0)
					}
				}
				if finite != (c.want == nil) {
					t.Errorf("%s, %s, step size %v: sampled functions are finite: %v", name, policy, c.step, finite)
				}
			}
		}
	}
}
