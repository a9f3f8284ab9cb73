package explore

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// EpsilonGreedy is annealed epsilon-greedy: in period t it takes an action uniformly at random with probability
// epsilon_t = c / (c + t), where c is the Moment's Anneal, and otherwise the one with the best mean over the sampled
// functions (ties: the lowest). It spends c log(1 + T/c) periods or so on exploration over T periods.
type EpsilonGreedy struct {
	N int // functions drawn for each decision; 0 is 1, enough for a single network
}

var _ Policy = EpsilonGreedy{}

// Samples is the number of functions drawn for each decision.
func (p EpsilonGreedy) Samples() int { return max(p.N, 1) }

// Decide explores uniformly, or takes the best action of the mean.
func (p EpsilonGreedy) Decide(values *Node, now Moment) (probabilities, action *Node) {
	runs, actions := values.Shape().Dim(0), values.Shape().Dim(2)
	g := values.Graph()
	best := ArgMax(ReduceMean(values, 1), 1, dtypes.Int32) // [runs]
	epsilon := Div(now.Anneal, Add(now.Anneal, ConvertDType(now.Period, dtypes.Float32)))
	greedy := Equal(Iota(g, shapes.Make(dtypes.Int32, runs, actions), 1), InsertAxes(best, -1))
	count := Const(g, int32(actions))
	uniform := BroadcastToDims(InsertAxes(MulScalar(epsilon, 1/float64(actions)), -1), runs, actions)
	if now.Actions != nil {
		count = now.Actions
		each := Div(epsilon, ConvertDType(count, dtypes.Float32))
		real := LessThan(Iota(g, shapes.Make(dtypes.Int32, runs, actions), 1), count)
		uniform = Where(real, BroadcastToDims(InsertAxes(each, -1), runs, actions), ZerosLike(uniform))
	}
	probabilities = Add(uniform,
		Mul(ConvertDType(greedy, values.DType()), InsertAxes(OneMinus(epsilon), -1)))
	explore := LessThan(Squeeze(now.Stream.Named("explore").Uniform(1), 1), epsilon)
	other := Squeeze(now.Stream.Named("uniform").Intn(count, 1), 1)
	return probabilities, Where(explore, other, best)
}
