package train

import (
	"maps"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// Optimizer turns gradients into new parameters. GoMLX's own optimizers keep their moments in a model.Store, as
// variables that a graph reads and writes as a side effect, with one learning rate; here the state is data, so that a
// checkpoint is exact and a While loop can carry it, and each run has its own step size.
type Optimizer interface {
	// Init returns the optimizer's state for parameters nu.
	Init(nu []*Node) []*Node
	// Update returns the new parameters and state, given gradients and step sizes [runs].
	Update(state, nu, grads []*Node, step *Node) (newState, newNu []*Node)
}

// Optimizers are the known ones. "sgd" is the paper's, with constant steps.
var Optimizers = map[string]Optimizer{"sgd": SGD{}, "adam": Adam{}}

// OptimizerNames lists the keys of Optimizers, sorted.
func OptimizerNames() []string { return slices.Sorted(maps.Keys(Optimizers)) }

// SGD is nu <- nu - step * gradient.
type SGD struct{}

// Init returns no state.
func (SGD) Init([]*Node) []*Node { return nil }

// Update makes one step.
func (SGD) Update(_, nu, grads []*Node, step *Node) ([]*Node, []*Node) {
	out := make([]*Node, len(nu))
	for i := range nu {
		out[i] = Sub(nu[i], Mul(perRun(step, nu[i]), grads[i]))
	}
	return nil, out
}

// Adam is Kingma and Ba's optimizer (ICLR 2015) with their beta_1 = 0.9, beta_2 = 0.999 and epsilon = 1e-8.
type Adam struct{}

// Init returns the number of steps made, and the two moments of each parameter, all zero.
func (Adam) Init(nu []*Node) []*Node {
	runs := nu[0].Shape().Dim(0)
	state := []*Node{BroadcastToShape(Const(nu[0].Graph(), float32(0)), shapes.Make(dtypes.Float32, runs))}
	for _, v := range nu {
		state = append(state, ZerosLike(v), ZerosLike(v))
	}
	return state
}

// Update makes one step.
func (Adam) Update(state, nu, grads []*Node, step *Node) ([]*Node, []*Node) {
	const beta1, beta2, epsilon = 0.9, 0.999, 1e-8
	t := AddScalar(state[0], 1)
	newState := []*Node{t}
	debias := func(beta float64) *Node { return OneMinus(Pow(Scalar(t.Graph(), t.DType(), beta), t)) }
	out := make([]*Node, len(nu))
	for i := range nu {
		m := Add(MulScalar(state[1+2*i], beta1), MulScalar(grads[i], 1-beta1))
		v := Add(MulScalar(state[2+2*i], beta2), MulScalar(Square(grads[i]), 1-beta2))
		mHat, vHat := Div(m, perRun(debias(beta1), m)), Div(v, perRun(debias(beta2), v))
		out[i] = Sub(nu[i], Mul(perRun(step, m), Div(mHat, AddScalar(Sqrt(vHat), epsilon))))
		newState = append(newState, m, v)
	}
	return newState, out
}

// perRun shapes v [runs] so that it multiplies x [runs, ...].
func perRun(v, x *Node) *Node {
	for v.Rank() < x.Rank() {
		v = InsertAxes(v, -1)
	}
	return v
}
