// Package explore maps sampled predictions to decisions (section 3): from the values [runs, indices, actions] that
// functions drawn from the hypermodel give to the actions, a policy makes action probabilities and draws an action.
package explore

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Policy is an exploration scheme. Implementations are values: they have no state, and are safe for concurrent use. A
// field with the tag run:"true" is a number in which the runs of a batch may differ: see [Moment].Numbers.
type Policy interface {
	// Samples is the number of functions to draw from the hypermodel for each decision.
	Samples() int
	// Decide returns the probabilities of the actions, [runs, actions], and the actions taken, int32 [runs], from the
	// values of the sampled functions, [runs, Samples, actions].
	Decide(values *Node, now Moment) (probabilities, action *Node)
}

// Moment is when a decision is taken, and with what: what a policy may use beside the values.
type Moment struct {
	Stream  rng.Stream    // of random numbers, for this decision alone
	Period  *Node         // decisions taken before, an int32 scalar
	Numbers hyper.Numbers // the policy's own, by the names of its fields; nil is what its fields say
	// There tells which actions there are, bool [runs, actions]; nil is all. The values of others repeat those of the
	// first that is there, and what a policy gives to the others [Decide] gives to the first: that is right for every
	// policy that looks for the best of something. A policy that counts actions must count those that are there.
	There *Node
}

// number is one of the policy's, [runs], with a default in the place of 0.
func (m Moment) number(name string, own, otherwise float64) *Node {
	x := m.Numbers.Of(m.Stream, name, own)
	return Where(Equal(x, ZerosLike(x)), MulScalar(OnesLike(x), otherwise), x)
}

// Decide lets a policy decide among the actions that are there: what it returns is as [Policy] says, with probability
// 0 for the others. One action at least must be there.
func Decide(p Policy, values *Node, now Moment) (probabilities, action *Node) {
	if now.There == nil {
		return p.Decide(values, now)
	}
	there := ConvertDType(now.There, values.DType())
	first := ArgMax(there, 1, dtypes.Int32)
	is := OneHot(first, values.Shape().Dim(2), values.DType())
	beside := BroadcastToShape(InsertAxes(pick(values, first), -1), values.Shape())
	values = Where(BroadcastToShape(InsertAxes(now.There, 1), values.Shape()), values, beside)
	probabilities, action = p.Decide(values, now)
	absent := ReduceAndKeep(Mul(probabilities, OneMinus(there)), ReduceSum, 1)
	probabilities = Add(Mul(probabilities, there), Mul(is, absent))
	taken := Mul(OneHot(action, there.Shape().Dim(1), there.DType()), there)
	zero := ScalarZero(there.Graph(), there.DType())
	return probabilities, Where(GreaterThan(ReduceSum(taken, 1), zero), action, first)
}

// pick returns the values [runs, functions] of an action of each run, int32 [runs].
func pick(values, action *Node) *Node {
	at := Iota(values.Graph(), shapes.Make(dtypes.Int32, values.Shape().Dimensions...), 2)
	return ReduceSum(Where(Equal(at, InsertAxes(action, -1, -1)), values, ZerosLike(values)), 2)
}
