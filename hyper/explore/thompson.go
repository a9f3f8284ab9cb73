package explore

import (
	"cmp"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
)

// Thompson is Thompson sampling (section 3.1): draw one function and take the action that maximises it. The probability
// of an action is the share of sampled functions it maximises; with the zero value, one function, that is 1 for the
// action taken. Set N to estimate the probabilities better (for off-policy evaluation): the action is still that of
// the first function. Ties go to the lowest action.
type Thompson struct {
	N int `help:"functions drawn for each decision; 0 is 1"`
}

var _ Policy = Thompson{}

func (p Thompson) Samples() int { return cmp.Or(p.N, 1) }

// Decide takes the best action of the first function.
func (p Thompson) Decide(values *Node, _ Moment) (probabilities, action *Node) {
	best := ArgMax(values, 2, dtypes.Int32) // [runs, samples]
	return shares(values), Squeeze(Slice(best, AxisRange(), AxisElem(0)), 1)
}
