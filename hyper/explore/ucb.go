package explore

import (
	"cmp"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
)

// UCB takes the action with the largest upper confidence bound: the given quantile of its values over the sampled
// functions, as Bayes-UCB does with a posterior. Ties go to the lowest action.
type UCB struct {
	N        int     `help:"functions drawn for each decision; 0 is 100"`
	Quantile float64 `help:"in (0, 1]; 0 is 0.95"`
}

var _ Policy = UCB{}

func (p UCB) Samples() int { return cmp.Or(p.N, 100) }

// Decide takes the action with the largest quantile: the k-th smallest value of n, k the least number that is at least
// n times Quantile.
func (p UCB) Decide(values *Node, _ Moment) (probabilities, action *Node) {
	return certain(smallest(values, p.rank(values.Shape().Dim(1))))
}

// smallest returns the k-th smallest of the functions' values of each action, [runs, actions], exactly. It finds the
// bits of the answer one by one, from how many values are below: GoMLX's Sort cannot stand inside a While loop, where
// experiments decide.
func smallest(values *Node, k int) *Node {
	bits := Bitcast(values, dtypes.Uint32)
	sign := Const(values.Graph(), uint32(1<<31))
	negative := GreaterOrEqual(bits, sign)
	order := Where(negative, BitwiseNot(bits), BitwiseOr(bits, sign)) // as integers are ordered, so are the values
	answer := ZerosLike(Squeeze(Slice(order, AxisRange(), AxisElem(0)), 1))
	for bit := 31; bit >= 0; bit-- {
		next := BitwiseOr(answer, Const(values.Graph(), uint32(1)<<bit))
		below := ReduceSum(ConvertDType(LessThan(order, InsertAxes(next, 1)), dtypes.Int32), 1)
		answer = Where(LessThan(below, Const(values.Graph(), int32(k))), next, answer)
	}
	return Bitcast(Where(GreaterOrEqual(answer, sign), BitwiseXor(answer, sign), BitwiseNot(answer)), values.DType())
}

// Greedy takes the action with the best mean over the sampled functions: no exploration but what the trainer's noise
// makes. Ties go to the lowest action.
type Greedy struct {
	N int `help:"functions drawn for each decision; 0 is 1, enough for a single network"`
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
