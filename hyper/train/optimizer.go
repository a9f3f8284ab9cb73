package train

import (
	"maps"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/train/optimizer"
)

// Optimizer turns gradients into new parameters. Its state is data, so that a checkpoint is exact and a While loop can carry
// it, and each run has its own step size.
type Optimizer interface {
	// Init returns the optimizer's state for parameters nu.
	Init(nu []*Node) []*Node
	// Update returns the new state and parameters, given gradients and step sizes [runs].
	Update(state, nu, grads []*Node, step *Node) (newState, newNu []*Node)
}

// Optimizers are the known ones. "sgd" is the paper's, with constant steps; the others are GoMLX's.
var Optimizers = map[string]Optimizer{
	"sgd":     SGD{},
	"adam":    FromGoMLX{optimizer.Adam().LearningRate(1).Done().(GradientOptimizer)},
	"adamax":  FromGoMLX{optimizer.Adam().Adamax().LearningRate(1).Done().(GradientOptimizer)},
	"rmsprop": FromGoMLX{optimizer.RMSProp().LearningRate(1).Done().(GradientOptimizer)},
}

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

// perRun shapes v [runs] so that it multiplies x [runs, ...].
func perRun(v, x *Node) *Node {
	for v.Rank() < x.Rank() {
		v = InsertAxes(v, -1)
	}
	return v
}
