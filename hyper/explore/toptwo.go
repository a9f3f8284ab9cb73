package explore

import (
	"cmp"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
)

// TopTwo is top-two Thompson sampling (Russo 2016). With probability Beta it takes the best action of the first sampled
// function. Otherwise it takes the best action of the first function that has another best action. If all functions
// have the same best action, TopTwo takes that action. The probabilities are averages over all orders of the sampled
// functions, so that they are right on average over decisions, like the probabilities of [Thompson].
type TopTwo struct {
	N    int     `help:"number of functions drawn for each decision; 0 means 30"`
	Beta float64 `help:"probability of the first function's best action, in (0, 1]; 0 means 1/2"`
}

var _ Policy = TopTwo{}

func (p TopTwo) Samples() int  { return cmp.Or(p.N, 30) }
func (p TopTwo) Ordinal() bool { return true }

// Decide takes the action of the first function, or of a challenger.
func (p TopTwo) Decide(values *Node, now Moment) (probabilities, action *Node) {
	beta := cmp.Or(p.Beta, 0.5)
	best := ArgMax(values, 2, dtypes.Int32)        // [runs, functions]
	first := Slice(best, AxisRange(), AxisElem(0)) // [runs, 1]
	other := ConvertDType(NotEqual(best, first), dtypes.Float32)
	challenger := ReduceSum(Mul(best, ConvertDType(OneHot(ArgMax(other, 1, dtypes.Int32), values.Shape().Dim(1),
		dtypes.Float32), dtypes.Int32)), 1)
	leader := Squeeze(first, 1)
	action = Where(LessThan(Squeeze(now.Stream.Named("top-two").Uniform(1), 1),
		Scalar(values.Graph(), dtypes.Float32, beta)), leader, challenger)

	// Let p be the shares of the functions. Then x is the leader with probability p_x, and the challenger of another
	// leader y with probability p_x / (1 - p_y).
	share := shares(values)
	rest := OneMinus(share)
	alone := LessOrEqual(rest, ScalarZero(rest.Graph(), rest.DType()))
	odds := Where(alone, ZerosLike(share), Div(share, Where(alone, OnesLike(rest), rest)))
	second := Mul(share, Sub(ReduceAndKeep(odds, ReduceSum, 1), odds))
	unanimous := ReduceAndKeep(ConvertDType(alone, share.DType()), ReduceMax, 1)
	mixed := Add(MulScalar(share, beta), MulScalar(second, 1-beta))
	return Where(GreaterThan(BroadcastToShape(unanimous, share.Shape()), ZerosLike(share)), share, mixed), action
}
