package explore

import (
	"fmt"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// BenchmarkDecision measures a decision over 10,000 actions with given values of 500 sampled functions. On one core:
// taskset -c 0 go test -bench Decision ./hyper/explore.
func BenchmarkDecision(b *testing.B) {
	const functions, actions = 500, 10_000
	exec := must.M1(backend.Open(""))
	// Nearly every function has a different best action.
	values := must.M1(CallOnce(exec, func(seed *Node) *Node { return rng.New(seed).Normal(functions, actions) },
		[]uint64{1}))
	for _, policy := range []Policy{Thompson{N: functions}, IDS{N: functions}, TopTwo{N: functions},
		Greedy{N: functions}} {
		decide := must.M1(NewExec(exec, func(seed, values *Node) (probabilities, action *Node) {
			return policy.Decide(values, Moment{Stream: rng.New(seed)})
		}))
		b.Run(fmt.Sprintf("%T", policy), func(b *testing.B) {
			decide.MustCall([]uint64{1}, values) // compiles
			for b.Loop() {
				decide.MustCall([]uint64{1}, values)
			}
		})
	}
}
