package explore

import (
	"cmp"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// EpsilonGreedy is annealed epsilon-greedy: in period t it takes an action uniformly at random with probability
// epsilon_t = c / (c + t), with c = Anneal, and otherwise the one with the best mean over the sampled functions (ties:
// the lowest). It spends c log(1 + T/c) periods or so on exploration over T periods.
type EpsilonGreedy struct {
	N      int     `help:"functions drawn for each decision; 0 is 1, enough for a single network"`
	Anneal float64 `run:"true" help:"c: it explores in period t with probability c / (c + t); 0 is 30"`
}

var _ Policy = EpsilonGreedy{}

func (p EpsilonGreedy) Samples() int { return cmp.Or(p.N, 1) }

// Decide explores uniformly, or takes the best action of the mean.
func (p EpsilonGreedy) Decide(values *Node, now Moment) (probabilities, action *Node) {
	runs, actions := values.Shape().Dim(0), values.Shape().Dim(2)
	g := values.Graph()
	best := ArgMax(ReduceMean(values, 1), 1, dtypes.Int32) // [runs]
	c := now.number("Anneal", p.Anneal, 30)
	epsilon := Div(c, Add(c, ConvertDType(now.Period, dtypes.Float32)))
	greedy := Equal(Iota(g, shapes.Make(dtypes.Int32, runs, actions), 1), InsertAxes(best, -1))
	uniform, other := p.uniform(epsilon, runs, actions, now)
	probabilities = Add(uniform,
		Mul(ConvertDType(greedy, values.DType()), InsertAxes(OneMinus(epsilon), -1)))
	explore := LessThan(Squeeze(now.Stream.Named("explore").Uniform(1), 1), epsilon)
	return probabilities, Where(explore, other, best)
}

// uniform returns the probability epsilon [runs] shared by the actions that are there, [runs, actions], and one of
// them at random, [runs].
func (p EpsilonGreedy) uniform(epsilon *Node, runs, actions int, now Moment) (probabilities, action *Node) {
	g, stream := epsilon.Graph(), now.Stream.Named("uniform")
	if now.There == nil {
		each := InsertAxes(MulScalar(epsilon, 1/float64(actions)), -1)
		return BroadcastToDims(each, runs, actions), Squeeze(stream.Intn(Const(g, int32(actions)), 1), 1)
	}
	there := ConvertDType(now.There, dtypes.Int32)
	count := ReduceSum(there, 1)
	each := Div(epsilon, ConvertDType(count, epsilon.DType()))
	probabilities = Mul(ConvertDType(there, epsilon.DType()), InsertAxes(each, -1))
	return probabilities, available(now.There, stream.Intn(count, 1))
}

// InTurn returns the action of a period for agents that take all actions in turn: int32, [runs], or [1] where the runs
// have the same actions. there says which actions there are, bool [runs, actions]; nil is all.
func InTurn(period *Node, actions int, there *Node) *Node {
	if there == nil {
		return InsertAxes(ModScalar(period, int32(actions)), 0)
	}
	count := ReduceSum(ConvertDType(there, dtypes.Int32), 1)
	return available(there, InsertAxes(Mod(BroadcastToShape(period, count.Shape()), count), -1))
}

// available returns the available action at a place, [runs, 1], among the available actions: int32, [runs].
func available(there, place *Node) *Node {
	one := ConvertDType(there, dtypes.Int32)
	chosen := And(there, Equal(Sub(runningSum(one), one), place))
	return ArgMax(ConvertDType(chosen, dtypes.Int32), 1, dtypes.Int32)
}

// runningSum returns the sums of x [runs, n] up to each place. GoMLX's CumSum adds n numbers for each of n places.
func runningSum(x *Node) *Node {
	runs, n := x.Shape().Dim(0), x.Shape().Dim(1)
	for step := 1; step < n; step *= 2 {
		zeros := Zeros(x.Graph(), shapes.Make(x.DType(), runs, step))
		x = Add(x, Concatenate([]*Node{zeros, Slice(x, AxisRange(), AxisRange(0, n-step))}, 1))
	}
	return x
}
