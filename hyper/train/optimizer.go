package train

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Optimizer turns gradients into new parameters. The state of an optimizer is data: a checkpoint is therefore exact,
// and a While loop can carry the state. Each run has its own step size. Implementations are comparable values, with
// settings that are useful when they are zero.
type Optimizer interface {
	// Init returns the optimizer's state for parameters nu.
	Init(nu []*Node) []*Node
	// Update returns the new state and parameters, given gradients and step sizes [runs].
	Update(state, nu, grads []*Node, step *Node) (newState, newNu []*Node)
}

// Linear is an optimizer with moves that are proportional to the gradients and to the step size. The step size then has
// a limit of stability, see [Config.StepLimit]. Other optimizers divide by the size of the gradients.
type Linear interface {
	Optimizer
	// LinearInGradients marks a Linear optimizer.
	LinearInGradients()
}

// IsLinear reports whether an optimizer's moves are linear in the gradients. nil is SGD.
func IsLinear(o Optimizer) bool {
	_, ok := o.(Linear)
	return o == nil || ok
}

// SGD makes the paper's steps, nu <- nu - step * gradient, with constant step sizes.
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

// perRun reshapes v [runs] so that v multiplies x [runs, ...].
func perRun(v, x *Node) *Node {
	for v.Rank() < x.Rank() {
		v = InsertAxes(v, -1)
	}
	return v
}
