package train

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Optimizer turns gradients into new parameters. Its state is data, so that a checkpoint is exact and a While loop can
// carry it, and each run has its own step size. Implementations are comparable values, with settings that are useful
// when they are zero.
type Optimizer interface {
	// Init returns the optimizer's state for parameters nu.
	Init(nu []*Node) []*Node
	// Update returns the new state and parameters, given gradients and step sizes [runs].
	Update(state, nu, grads []*Node, step *Node) (newState, newNu []*Node)
}

// Linear is an optimizer whose moves are proportional to the gradients and to the step size. Steps have then a limit of
// stability, see [Config.StepLimit]. Others divide by the size of the gradients.
type Linear interface {
	Optimizer
	// LinearInGradients marks a Linear optimizer.
	LinearInGradients()
}

// IsLinear tells whether an optimizer's moves are linear in the gradients; nil is SGD.
func IsLinear(o Optimizer) bool {
	_, ok := o.(Linear)
	return o == nil || ok
}

// SGD is nu <- nu - step * gradient: the paper's, with constant steps.
type SGD struct{}

var _ Linear = SGD{}

func (SGD) LinearInGradients() {}

// Init returns no state.
func (SGD) Init([]*Node) []*Node { return nil }

func (SGD) Update(_, nu, grads []*Node, step *Node) ([]*Node, []*Node) {
	out := make([]*Node, len(nu))
	for i := range nu {
		out[i] = Sub(nu[i], Mul(perRun(step, nu[i]), grads[i]))
	}
	return nil, out
}

// perRun shapes v [runs] so that it multiplies x [runs, ...].
func perRun(v, x *Node) *Node {
	for v.Rank() < x.Rank() {
		v = InsertAxes(v, -1)
	}
	return v
}
