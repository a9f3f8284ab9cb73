package explore

import (
	"cmp"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// UCB takes the action with the largest upper confidence bound: the given quantile of its values over the sampled
// functions. Bayes-UCB does the same with a posterior. A tie goes to the lowest action number.
type UCB struct {
	N        int     `help:"number of functions drawn for each decision; 0 means 100"`
	Quantile float64 `help:"quantile of an action's values that is its score, in (0, 1]; 0 means 0.95"`
}

var _ Policy = UCB{}

func (p UCB) Samples() int  { return cmp.Or(p.N, 100) }
func (p UCB) Ordinal() bool { return true }

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

// DecideOnHost takes the action with the largest quantile.
func (p UCB) DecideOnHost(values []float32, actions int, _ rng.Host, _ int32) ([]float32, int) {
	n := len(values) / actions
	k, score, own := p.rank(n), make([]float32, actions), make([]float32, n)
	for a := range score {
		for i := range own {
			own[i] = values[i*actions+a]
		}
		score[a] = hostSmallest(own, k)
	}
	return certainly(score)
}

// DecideByNormals takes the action with the largest quantile. A value increases with the random word of its normal
// number. DecideByNormals therefore selects among words, and computes only one normal number for each action.
func (p UCB) DecideByNormals(mean, sd []float32, z rng.Host) ([]float32, int) {
	n, actions := p.Samples(), len(mean)
	words, own, score := make([]uint32, n*actions), make([]uint32, n), make([]float32, actions)
	z.Bits(words)
	k := p.rank(n)
	for a := range score {
		for i := range own {
			own[i] = words[i*actions+a]
		}
		score[a] = mean[a] + float32(sd[a]*rng.NormalOf(hostSmallest(own, k)))
	}
	return certainly(score)
}

// hostSmallest returns the k-th smallest of finite numbers, counted from 1. It changes their order. It is Hoare's
// selection (1961).
func hostSmallest[T cmp.Ordered](x []T, k int) T {
	for k--; len(x) > 1; {
		pivot, i, j := x[len(x)/2], 0, len(x)-1
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			x = x[:j+1]
		case k >= i:
			x, k = x[i:], k-i
		default: // all numbers between i and j equal the pivot
			return pivot
		}
	}
	return x[0]
}

// rank returns k such that the k-th smallest of n values is their quantile.
func (p UCB) rank(n int) int {
	return min(max(int(math.Ceil(cmp.Or(p.Quantile, 0.95)*float64(n)-1e-9)), 1), n)
}
