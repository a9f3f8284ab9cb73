package explore

import (
	"fmt"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// BenchmarkDecision measures a decision over 10,000 actions with given values of 500 sampled functions. On one core:
// taskset -c 0 go test -bench Decision ./hyper/explore.
func BenchmarkDecision(b *testing.B) {
	const functions, actions = 500, 10_000
	exec, err := backend.Open("")
	if err != nil {
		b.Fatal(err)
	}
	// Nearly every function has a different best action.
	values, err := CallOnce(exec, func(seed *Node) *Node { return rng.New(seed).Normal(functions, actions) }, []uint64{1})
	if err != nil {
		b.Fatal(err)
	}
	for _, policy := range []Policy{Thompson{N: functions}, IDS{N: functions}, TopTwo{N: functions},
		Greedy{N: functions}} {
		decide, err := NewExec(exec, func(seed, values *Node) (probabilities, action *Node) {
			return policy.Decide(values, Moment{Stream: rng.New(seed)})
		})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%T", policy), func(b *testing.B) {
			decide.MustCall([]uint64{1}, values) // compiles
			for b.Loop() {
				decide.MustCall([]uint64{1}, values)
			}
		})
	}
}
