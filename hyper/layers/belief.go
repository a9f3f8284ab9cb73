package layers

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/support/exceptions"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// layer is a hyper.Belief whose parameters are variables of a scope: nu as "nu.0", "nu.1" and so on, which are trained,
// and the fixed parameters as "fixed." and their names.
type layer struct {
	scope  *model.Scope
	belief hyper.Belief
	z      Indices
	init   func(s rng.Stream) hyper.Params
	shapes []shapes.Shape // of nu
}

// newLayer makes a layer, and notes it for the loss of the graph. scale is sigma_p, which multiplies the belief's
// prior.
func newLayer(scope *model.Scope, g *Graph, z Indices, b hyper.Belief, scale float64) *layer {
	l := &layer{scope: scope, belief: b, z: z, init: func(s rng.Stream) hyper.Params {
		return b.Init(s, Const(s.Graph(), []float32{float32(scale)}))
	}}
	same := func(other *layer) bool { return other.scope.Scope() == scope.Scope() }
	if all := layersOf(g); !slices.ContainsFunc(all, same) { // a layer that is used twice is one layer
		model.SetGraphParam(g, graphLayers, append(slices.Clip(all), l))
	}
	return l
}

// layersOf returns the layers of a graph.
func layersOf(g *Graph) []*layer {
	all, _ := model.GetGraphParam(g, graphLayers)
	layers, _ := all.([]*layer)
	return layers
}

// params returns the parameters for one run. It creates the variables that the scope does not have.
func (l *layer) params(g *Graph) hyper.Params {
	scratch := NewGraph(g.Backend(), "shapes of "+l.scope.Scope())
	defer scratch.Finalize()
	like := l.init(stream(l.scope, scratch))
	p := hyper.Params{Fixed: map[string]*Node{}}
	for i, x := range like.Nu {
		l.shapes = append(l.shapes, x.Shape())
		p.Nu = append(p.Nu, l.nu("nu.", i).NodeValue(g))
	}
	for _, name := range slices.Sorted(maps.Keys(like.Fixed)) {
		v := l.variable("fixed."+name, like.Fixed[name].Shape(), func(p hyper.Params) *Node { return p.Fixed[name] })
		p.Fixed[name] = v.SetTrainable(false).NodeValue(g)
	}
	each := func(x *Node) *Node { return InsertAxes(x, 0) }
	for i := range p.Nu {
		p.Nu[i] = each(p.Nu[i])
	}
	for name, x := range p.Fixed {
		p.Fixed[name] = StopGradient(each(x))
	}
	return p
}

// nu returns the variable of a part of nu, whose name begins with a prefix.
func (l *layer) nu(prefix string, i int) *model.Variable {
	return l.variable(prefix+strconv.Itoa(i), l.shapes[i], func(p hyper.Params) *Node { return p.Nu[i] })
}

// variable returns the variable with one run of the numbers that part selects from the initial parameters.
func (l *layer) variable(name string, ofRuns shapes.Shape, part func(hyper.Params) *Node) *model.Variable {
	shape := shapes.Make(ofRuns.DType, ofRuns.Dimensions[1:]...)
	start := func(g *Graph, _ shapes.Shape) *Node { return Squeeze(part(l.init(stream(l.scope, g))), 0) }
	return l.scope.WithInitializer(start).VariableWithShape(name, shape)
}

// predict returns the belief's predictions at inputs x [inputs, features]: [indices, inputs].
func (l *layer) predict(x *Node) *Node {
	g := x.Graph()
	return Squeeze(l.belief.Predict(l.params(g), l.z.Set(g), InsertAxes(x, 0)), 0)
}

// flat returns x [batch..., features] as [inputs, features], and a function that returns y [indices, inputs, outputs]
// as [indices, batch..., outputs].
func flat(scope *model.Scope, x *Node) (inputs *Node, back func(y *Node) *Node) {
	if x.Rank() < 2 || x.DType() != dtypes.Float32 {
		exceptions.Panicf("the layer in scope %q needs float32 inputs [batch..., features], got %s", scope.Scope(), x.Shape())
	}
	batch := x.Shape().Dimensions[:x.Rank()-1]
	return Reshape(x, -1, x.Shape().Dim(-1)), func(y *Node) *Node {
		return Reshape(y, slices.Concat([]int{y.Shape().Dim(0)}, batch, []int{y.Shape().Dim(2)})...)
	}
}

// Belief returns the predictions of a belief as a layer with one output: [indices, batch..., 1] for x
// [batch..., features]. z must have the belief's index distribution. The belief must be one that gradients train: not
// hyper.NetworkGP or hyper.BayesianLinear, whose uncertainty follows from the data in closed form; see [LastLayer].
func Belief(scope *model.Scope, z Indices, b hyper.Belief, x *Node) *Node {
	if b == nil {
		exceptions.Panicf("layers.Belief in scope %q needs a belief, such as hyper.NewEpinet returns, got nil", scope.Scope())
	}
	inputs, back := flat(scope, x)
	can, err := hyper.CapabilitiesOf(b), faults.Of(b)
	if f, ok := b.(hyper.FixedInputs); ok && err == nil && f.Inputs() >= 0 && f.Inputs() != x.Shape().Dim(-1) {
		err = fmt.Errorf("it takes inputs of %d numbers, got %s", f.Inputs(), x.Shape())
	}
	switch {
	case err != nil:
		exceptions.Panicf("layers.Belief in scope %q: %v", scope.Scope(), err)
	case can.Conditioned != nil || can.Conjugate != nil:
		exceptions.Panicf("layers.Belief in scope %q: gradients do not train %T; see layers.LastLayer", scope.Scope(), b)
	case z.of(scope) != b.Index():
		exceptions.Panicf("layers.Belief in scope %q: %T has indices of %T %+v, but layers.Index draws from %T %+v",
			scope.Scope(), b, b.Index(), b.Index(), z.Distribution, z.Distribution)
	}
	return back(InsertAxes(newLayer(scope, x.Graph(), z, b, 1).predict(inputs), -1))
}
