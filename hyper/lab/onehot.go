package lab

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// oneHot is an Agent in a world of arms that gets each arm as a one-hot vector.
type oneHot struct {
	Agent
	arms int
}

func (a oneHot) Act(state bandit.State, n hyper.Numbers, s rng.Stream, period, _, available *Node) (action, values *Node) {
	return a.Agent.Act(state, n, s, period, a.inputs(s), available)
}

func (a oneHot) Learn(state bandit.State, n hyper.Numbers, s rng.Stream, d Datum) bandit.State {
	d.Inputs = a.inputs(s)
	return a.Agent.Learn(state, n, s, d)
}

// inputs returns the one-hot vectors of all arms, [runs, arms, arms].
func (a oneHot) inputs(s rng.Stream) *Node {
	arm := Iota(s.Graph(), shapes.Make(dtypes.Int32, s.Runs(), a.arms), 1)
	return OneHot(arm, a.arms, dtypes.Float32)
}
