package explore

import (
	"cmp"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// EpsilonGreedy is annealed epsilon-greedy. In period t it takes an action uniformly at random with probability
// epsilon_t = c / (c + t), with c = Anneal. Otherwise it takes the action with the best mean over the sampled
// functions; a tie goes to the lowest action number. Over T periods, about c log(1 + T/c) actions are random. For
// beliefs other than a single network set N, see [Greedy].
type EpsilonGreedy struct {
	N      int     `help:"number of functions drawn for a decision; 0 means 1, for one network; other beliefs need more"`
	Anneal float64 `run:"true" help:"c: the policy explores in period t with probability c / (c + t); 0 means 30"`
}

var _ Policy = EpsilonGreedy{}

func (p EpsilonGreedy) Samples() int  { return cmp.Or(p.N, 1) }
func (p EpsilonGreedy) Ordinal() bool { return p.Samples() == 1 }

// Decide takes a uniformly random action with probability epsilon_t, and otherwise the best action of the mean.
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

// uniform divides the probability epsilon [runs] equally among the available actions, [runs, actions]. It also draws
// one of these actions uniformly at random, [runs].
func (p EpsilonGreedy) uniform(epsilon *Node, runs, actions int, now Moment) (probabilities, action *Node) {
	g, stream := epsilon.Graph(), now.Stream.Named("uniform")
	if now.Available == nil {
		each := InsertAxes(MulScalar(epsilon, 1/float64(actions)), -1)
		return BroadcastToDims(each, runs, actions), Squeeze(stream.Intn(Const(g, int32(actions)), 1), 1)
	}
	mask := ConvertDType(now.Available, dtypes.Int32)
	count := ReduceSum(mask, 1)
	each := Div(epsilon, ConvertDType(count, epsilon.DType()))
	probabilities = Mul(ConvertDType(mask, epsilon.DType()), InsertAxes(each, -1))
	return probabilities, available(now.Available, stream.Intn(count, 1))
}

// InTurn returns the round-robin action of a period, int32 [runs], or [1] if mask is nil. It is the available action at
// place period mod n, where n is the number of available actions. period is an int32 scalar that counts from 0. mask
// marks the available actions, bool [runs, actions]; nil means all.
func InTurn(period *Node, actions int, mask *Node) *Node {
	if mask == nil {
		return InsertAxes(ModScalar(period, int32(actions)), 0)
	}
	count := ReduceSum(ConvertDType(mask, dtypes.Int32), 1)
	return available(mask, InsertAxes(Mod(BroadcastToShape(period, count.Shape()), count), -1))
}

// available returns the action that has the given place, [runs, 1], among the available actions: int32, [runs]. mask
// marks the available actions, bool [runs, actions].
func available(mask, place *Node) *Node {
	one := ConvertDType(mask, dtypes.Int32)
	chosen := And(mask, Equal(Sub(runningSum(one), one), place))
	return ArgMax(ConvertDType(chosen, dtypes.Int32), 1, dtypes.Int32)
}

// runningSum returns the cumulative sums of x [runs, n] along its second axis. It takes log n steps; GoMLX's CumSum
// would add n numbers for each of n places.
func runningSum(x *Node) *Node {
	runs, n := x.Shape().Dim(0), x.Shape().Dim(1)
	for step := 1; step < n; step *= 2 {
		zeros := Zeros(x.Graph(), shapes.Make(x.DType(), runs, step))
		x = Add(x, Concatenate([]*Node{zeros, Slice(x, AxisRange(), AxisRange(0, n-step))}, 1))
	}
	return x
}

// DecideOnHost takes a uniformly random action with probability epsilon_t, and otherwise the best action of the mean.
func (p EpsilonGreedy) DecideOnHost(values []float32, actions int, s rng.Host, period int32) ([]float32, int) {
	c := cmp.Or(float32(p.Anneal), 30)
	epsilon := c / (c + float32(period))
	probabilities, action := certainly(means(values, actions))
	for a := range probabilities {
		probabilities[a] = probabilities[a]*(1-epsilon) + epsilon/float32(actions)
	}
	var u [1]float32
	if s.Named("explore").Uniform(u[:]); u[0] < epsilon {
		var any [1]int32
		s.Named("uniform").Intn(actions, any[:])
		action = int(any[0])
	}
	return probabilities, action
}
