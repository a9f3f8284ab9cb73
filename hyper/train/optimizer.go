package train

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Optimizer turns gradients into new parameters. The state of an optimizer is data: a checkpoint is therefore exact,
// and a While loop can carry the state. Each run has its own step size. Implementations are comparable values, with
// settings that are useful when they are zero.
//
// An optimizer may have two more methods:
//
//	// LinearInGradients marks an optimizer without memory whose moves are proportional to the gradients and to the
//	// step size. The step size then has a limit of stability, see Config.StepLimit.
//	LinearInGradients()
//	// Deviation returns the standard deviation, [runs], of normal random numbers that are added to the trained
//	// parameters after a step of size step on the sum of a particle's losses. The particles of an ensemble, or a
//	// single network, are then draws from a distribution.
//	Deviation(step *Node) *Node
type Optimizer interface {
	// Init returns the optimizer's state for parameters nu.
	Init(nu []*Node) []*Node
	// Update returns the new state and parameters, given gradients and step sizes [runs].
	Update(state, nu, grads []*Node, step *Node) (newState, newNu []*Node)
}

// linear and noisy are the optional methods of an [Optimizer].
type (
	linear interface{ LinearInGradients() }
	noisy  interface{ Deviation(step *Node) *Node }
)

// LinearSteps reports whether the optimizer has the method LinearInGradients, as SGD and SGLD do.
func (c Config) LinearSteps() bool {
	_, ok := c.optimizer().(linear)
	return ok
}

// SGD makes the paper's steps, nu <- nu - step * gradient. Config.Schedule may shorten the steps.
type SGD struct{}

var _ Optimizer = SGD{}

// LinearInGradients marks the optimizer: see [Optimizer].
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
