// Package explore turns sampled predictions into decisions (section 3). Functions that are drawn from a hypermodel give
// values to the actions, [runs, indices, actions]. From these values, a policy computes action probabilities and draws
// an action.
package explore

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/promoted"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Policy is an exploration scheme. An implementation is a value without state, and is safe for concurrent use. A field
// with the tag run:"true" is a number that may differ between the runs of a batch, see [Moment].Numbers.
type Policy interface {
	// Samples returns the number of functions to draw from the hypermodel for each decision.
	Samples() int
	// Decide returns the probabilities of the actions, [runs, actions], and the chosen actions, int32 [runs]. values
	// are the values of the sampled functions, [runs, Samples, actions]: mean rewards, up to a common scale and
	// offset, unless the policy is [Ordinal].
	Decide(values *Node, now Moment) (probabilities, action *Node)
}

// Ordinal is a capability of a [Policy].
type Ordinal interface {
	Policy
	// Ordinal reports whether decisions depend only on which of two values is larger. A learner then leaves out the link
	// function of its loss, such as the sigmoid, which would only make large values equal by rounding.
	Ordinal() bool
}

// IsOrdinal reports whether a policy says that it is [Ordinal]. A type that embeds an Ordinal policy is not, because it
// may decide otherwise.
func IsOrdinal(p Policy) bool {
	o, ok := p.(Ordinal)
	return ok && !promoted.Has[Ordinal](p) && o.Ordinal()
}

// Moment is what a policy may use for a decision in addition to the values.
type Moment struct {
	Stream  rng.Stream    // random numbers for this decision only
	Period  *Node         // int32 scalar: number of decisions taken before
	Numbers hyper.Numbers // the policy's own numbers by the names of its fields; nil means the values of the fields
	// Available marks the available actions, bool [runs, actions]; nil means all. The values of the other actions
	// repeat the values of the first available action, and [Decide] gives the probability of the other actions to that
	// first one. This is correct for every policy that looks for the best of something. A policy that counts actions
	// must count only the available ones.
	Available *Node
}

// number returns one of the policy's numbers, [runs], with a default in place of 0.
func (m Moment) number(name string, own, otherwise float64) *Node {
	x := m.Numbers.Of(m.Stream, name, own)
	return Where(Equal(x, ZerosLike(x)), MulScalar(OnesLike(x), otherwise), x)
}

// Decide lets a policy decide among the available actions. It returns the same as [Policy].Decide, with probability 0
// for actions that are not available. At least one action must be available.
func Decide(p Policy, values *Node, now Moment) (probabilities, action *Node) {
	if now.Available == nil {
		return checked(p, values, now)
	}
	mask := ConvertDType(now.Available, values.DType())
	first := ArgMax(mask, 1, dtypes.Int32)
	is := OneHot(first, values.Shape().Dim(2), values.DType())
	beside := BroadcastToShape(InsertAxes(pick(values, first), -1), values.Shape())
	values = Where(BroadcastToShape(InsertAxes(now.Available, 1), values.Shape()), values, beside)
	probabilities, action = checked(p, values, now)
	absent := ReduceAndKeep(Mul(probabilities, OneMinus(mask)), ReduceSum, 1)
	probabilities = Add(Mul(probabilities, mask), Mul(is, absent))
	taken := Mul(OneHot(action, mask.Shape().Dim(1), mask.DType()), mask)
	zero := ScalarZero(mask.Graph(), mask.DType())
	return probabilities, Where(GreaterThan(ReduceSum(taken, 1), zero), action, first)
}

// checked calls a policy's Decide, and panics with a [faults.Fault] if one of the results has a wrong shape.
func checked(p Policy, values *Node, now Moment) (probabilities, action *Node) {
	runs, actions := values.Shape().Dim(0), values.Shape().Dim(2)
	probabilities, action = p.Decide(values, now)
	faults.Node(probabilities, shapes.Make(values.DType(), runs, actions), "the first result of Decide of the policy %T", p)
	faults.Node(action, shapes.Make(dtypes.Int32, runs), "the second result of Decide of the policy %T", p)
	return probabilities, action
}

// pick returns the values [runs, functions] of one action of each run, int32 [runs].
func pick(values, action *Node) *Node {
	at := Iota(values.Graph(), shapes.Make(dtypes.Int32, values.Shape().Dimensions...), 2)
	return ReduceSum(Where(Equal(at, InsertAxes(action, -1, -1)), values, ZerosLike(values)), 2)
}
