package train

import (
	"cmp"
	"slices"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// FromGoMLX makes an Optimizer from a GoMLX optimizer that takes computed gradients, as all optimizers of GoMLX do.
// Create the GoMLX optimizer with a learning rate of 1: its step is multiplied by the step size of each run.
//
// GoMLX's optimizers keep their moments in variables of a model.Store, which a graph reads as parameters and writes as
// a side effect. Here each variable stands for a node of the State instead: the variable is made as a constant, and
// receives the State's node as its value before the optimizer reads it.
type FromGoMLX struct{ Optimizer optimizer.Interface }

// fromGradients is a GoMLX optimizer that takes computed gradients.
type fromGradients interface {
	UpdateGraphWithGradients(scope *model.Scope, grads []*Node, lossDType dtypes.DType)
}

// Validate reports an Optimizer that does not take computed gradients.
func (o FromGoMLX) Validate() error {
	if _, ok := o.Optimizer.(fromGradients); !ok {
		return faults.New("Optimizer", "needs a method UpdateGraphWithGradients, which %T does not have; use one of GoMLX's "+
			"package ml/train/optimizer", o.Optimizer)
	}
	return nil
}

// trainedScope is the scope of the variables of the trained parameters in a store.
const trainedScope = "/nu"

// Init returns the initial values of the optimizer's variables, sorted by path.
func (o FromGoMLX) Init(nu []*Node) []*Node {
	g := nu[0].Graph()
	var state []*Node
	for _, v := range o.variables(nu) {
		if v.HasValue() {
			state = append(state, ConstTensor(g, v.MustValue()))
		} else {
			state = append(state, Zeros(g, v.Shape()))
		}
	}
	return state
}

// Update makes one step, multiplied by the step size of each run.
func (o FromGoMLX) Update(state, nu, grads []*Node, step *Node) (newState, newNu []*Node) {
	g := nu[0].Graph()
	store := model.NewStore()
	model.SetStore(g, store)
	own := o.variables(nu)
	inputs := make([]*model.Variable, len(nu))
	for i, v := range nu {
		inputs[i] = bind(store, trainedScope+"/"+key("v", i), v).SetTrainable(true)
	}
	for i, v := range own {
		own[i] = bind(store, v.Path(), state[i]).SetTrainable(false)
	}
	o.Optimizer.(fromGradients).UpdateGraphWithGradients(store.RootScope(), grads, dtypes.Float32)
	for _, v := range own {
		newState = append(newState, v.NodeValue(g))
	}
	for i, v := range inputs {
		newNu = append(newNu, Add(nu[i], Mul(perRun(step, nu[i]), Sub(v.NodeValue(g), nu[i]))))
	}
	return newState, newNu
}

// bind creates a variable whose value in the graph is the given node. The variable is created as a scalar, because its
// first value is a constant that stays in the program, and a large constant would be written out number by number.
// Optimizers read the shapes of nodes, and not the shapes of variables.
func bind(store *model.Store, path string, value *Node) *model.Variable {
	v := store.VariableWithValue(path, tensors.FromShape(shapes.Make(value.DType())))
	store.WithVariableAsConst(true)
	v.NodeValue(value.Graph())
	store.WithVariableAsConst(false)
	v.SetNodeValue(value)
	return v
}

// variables lists the variables that the optimizer creates for parameters with the shapes of nu, sorted by path. To
// find them, it runs the optimizer on a separate graph, which is then thrown away.
func (o FromGoMLX) variables(nu []*Node) []*model.Variable {
	g := NewGraph(nu[0].Graph().Backend(), "variables of an optimizer")
	defer g.Finalize()
	store := model.NewStore()
	model.SetStore(g, store)
	var grads []*Node
	for i, v := range nu {
		store.VariableWithShape(trainedScope+"/"+key("v", i), v.Shape(), initializer.Zero).NodeValue(g)
		grads = append(grads, Zeros(g, v.Shape()))
	}
	o.Optimizer.(fromGradients).UpdateGraphWithGradients(store.RootScope(), grads, dtypes.Float32)
	var own []*model.Variable
	for v := range store.IterVariables() {
		if !strings.HasPrefix(v.Path(), trainedScope+"/") {
			own = append(own, v)
		}
	}
	slices.SortFunc(own, func(a, b *model.Variable) int { return cmp.Compare(a.Path(), b.Path()) })
	return own
}
