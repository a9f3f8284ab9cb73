package explore

import (
	"cmp"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
)

// SquareCB is inverse gap weighting (Foster and Rakhlin, "Beyond UCB", ICML 2020). Let f be the mean of the sampled
// functions, A the number of actions, and best the best action of f; a tie goes to the lowest action number. Every
// other action a is taken with probability 1 / (A + gamma (f_best - f_a)), and best with the remaining probability.
type SquareCB struct {
	N     int     `help:"number of functions drawn for each decision; 0 means 30"`
	Gamma float64 `run:"true" help:"gamma: larger values make actions with lower means rarer; 0 means 100"`
}

var _ Policy = SquareCB{}

func (p SquareCB) Samples() int { return cmp.Or(p.N, 30) }

// Decide draws an action with probabilities that depend on the gaps of the mean.
func (p SquareCB) Decide(values *Node, now Moment) (probabilities, action *Node) {
	gamma := InsertAxes(now.number("Gamma", p.Gamma, 100), -1)
	f := ReduceMean(values, 1) // [runs, actions]
	is := OnesLike(f)
	if now.Available != nil {
		is = ConvertDType(now.Available, f.DType())
		f = Where(now.Available, f, BroadcastToShape(Scalar(f.Graph(), f.DType(), math.Inf(-1)), f.Shape()))
	}
	best := ArgMax(f, 1, dtypes.Int32)
	top := OneHot(best, f.Shape().Dim(1), f.DType())
	gap := Sub(ReduceAndKeep(f, ReduceMax, 1), f)
	others := Mul(Div(OnesLike(f), Add(ReduceAndKeep(is, ReduceSum, 1), Mul(gamma, gap))), Mul(is, OneMinus(top)))
	sums := runningSum(others)
	reached := ConvertDType(LessThan(now.Stream.Named("squarecb").Uniform(1), sums), dtypes.Int32)
	other := GreaterThan(ReduceMax(reached, 1), ScalarZero(f.Graph(), dtypes.Int32))
	probabilities = Add(others, Mul(top, OneMinus(ReduceAndKeep(others, ReduceSum, 1))))
	return probabilities, Where(other, ArgMax(reached, 1, dtypes.Int32), best)
}
