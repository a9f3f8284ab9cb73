package testbed

import (
	"maps"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// BenchmarkTraining trains agents on five problems side by side, with 1,000 data and ten inputs each. One iteration is
// one call: 50 SGD steps for each problem. steps/s counts the steps of all problems together. `hyper testbed`
// distributes problems over one process for each core; to measure that, run the benchmark once for each core, pinned to
// the core, at the same time.
func BenchmarkTraining(b *testing.B) {
	const problems, data, inputs = 5, 1000, 10
	for _, agent := range []Agent{MLP(Classes), Epinet(Classes), Hypermodel(Classes), Ensemble(Classes, 100),
		EnsemblePlus(Classes, 100)} {
		b.Run(agent.Name, func(b *testing.B) {
			t := newTrial(must.M1(backend.Open(backend.Default())), agent, Classes, inputs, data, nil)
			var all []Problem
			for i := range problems {
				all = append(all, Problem{Number: i, Inputs: inputs, Data: data, Temperature: 0.1, Seed: uint64(i + 1)})
			}
			args := t.args(all)
			state := must.M1(t.start.call(args))
			step := func(round int) {
				now := maps.Clone(args)
				maps.Copy(now, state)
				delete(now, thetaName)
				now[roundName] = tensors.FromValue(int32(round))
				next := must.M1(t.fit.call(now))
				release(state)
				state = next
			}
			step(0) // compiles
			b.ResetTimer()
			for round := range b.N {
				step(round + 1)
			}
			for _, x := range state {
				must.M(x.ToLocal()) // waits
			}
			b.ReportMetric(float64(b.N*callSteps*problems)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}
