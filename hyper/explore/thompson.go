package explore

import (
	"cmp"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Thompson is Thompson sampling (section 3.1): it draws one function and takes the action that maximises it. The
// probability of an action is the share of sampled functions that it maximises. With the zero value, which draws one
// function, it is 1 for the action taken. A larger N estimates the probabilities better, for off-policy evaluation; the
// action is still the action of the first function. A tie goes to the lowest action number.
type Thompson struct {
	N int `help:"number of functions drawn for each decision; 0 means 1"`
}

var _ Policy = Thompson{}

func (p Thompson) Samples() int  { return cmp.Or(p.N, 1) }
func (p Thompson) Ordinal() bool { return true }

// Decide takes the best action of the first function.
func (p Thompson) Decide(values *Node, _ Moment) (probabilities, action *Node) {
	best := ArgMax(values, 2, dtypes.Int32) // [runs, samples]
	return shares(values), Squeeze(Slice(best, AxisRange(), AxisElem(0)), 1)
}

// DecideOnHost takes the best action of the first function.
func (p Thompson) DecideOnHost(values []float32, actions int, _ rng.Host, _ int32) ([]float32, int) {
	counts := make([]float32, actions)
	for f := range slices.Chunk(values, actions) {
		counts[highest(f)]++
	}
	for i := range counts {
		counts[i] /= float32(len(values) / actions)
	}
	return counts, highest(values[:actions])
}
