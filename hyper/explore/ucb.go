package explore

import (
	"cmp"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
)

// UCB takes the action with the largest upper confidence bound: the given quantile of its values over the sampled
// functions. Bayes-UCB does the same with a posterior. Among equal actions UCB takes the lowest.
type UCB struct {
	N        int     `help:"number of functions drawn for each decision; 0 means 100"`
	Quantile float64 `help:"quantile of an action's values that is its score, in (0, 1]; 0 means 0.95"`
}

var _ Policy = UCB{}

func (p UCB) Samples() int { return cmp.Or(p.N, 100) }

// Decide takes the action with the largest quantile. The quantile is the k-th smallest of n values, with k = n times
// Quantile, rounded up.
func (p UCB) Decide(values *Node, _ Moment) (probabilities, action *Node) {
	return certain(smallest(values, p.rank(values.Shape().Dim(1))))
}

// smallest returns the k-th smallest value of each action over the functions, [runs, actions], exactly. It finds the
// bits of the answer one by one, by counting the values below. It does not use GoMLX's Sort, which does not work inside
// a While loop, where experiments decide.
func smallest(values *Node, k int) *Node {
	bits := Bitcast(values, dtypes.Uint32)
	sign := Const(values.Graph(), uint32(1<<31))
	negative := GreaterOrEqual(bits, sign)
	order := Where(negative, BitwiseNot(bits), BitwiseOr(bits, sign)) // these integers have the order of the values
	answer := ZerosLike(Squeeze(Slice(order, AxisRange(), AxisElem(0)), 1))
	for bit := 31; bit >= 0; bit-- {
		next := BitwiseOr(answer, Const(values.Graph(), uint32(1)<<bit))
		below := ReduceSum(ConvertDType(LessThan(order, InsertAxes(next, 1)), dtypes.Int32), 1)
		answer = Where(LessThan(below, Const(values.Graph(), int32(k))), next, answer)
	}
	return Bitcast(Where(GreaterOrEqual(answer, sign), BitwiseXor(answer, sign), BitwiseNot(answer)), values.DType())
}

// Greedy takes the action with the best mean over the sampled functions. With many functions it explores only through
// the noise of training. With one function, the default, it is greedy only for a belief that is a single network; for
// other beliefs it is Thompson sampling, so set N, for example to 100. Among equal actions it takes the lowest.
type Greedy struct {
	N int `help:"number of functions drawn for a decision; 0 means 1, for one network; other beliefs need more"`
}

var _ Policy = Greedy{}

func (p Greedy) Samples() int { return cmp.Or(p.N, 1) }

// Decide takes the best action of the mean.
func (p Greedy) Decide(values *Node, _ Moment) (probabilities, action *Node) {
	return certain(ReduceMean(values, 1))
}

// certain takes the action with the largest score, [runs, actions], with probability 1.
func certain(score *Node) (probabilities, action *Node) {
	action = ArgMax(score, 1, dtypes.Int32)
	return OneHot(action, score.Shape().Dim(1), score.DType()), action
}
