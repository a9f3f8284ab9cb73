package hyper

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/support/exceptions"

	"github.com/hypermodels/hypermodels/hyper/rng"
)

// ModelFunction is a model function of GoMLX with the values of its variables: anyone's network, such as an embedding
// that was trained before. [OnFeatures] makes a belief on its outputs. With one output it is also a [BaseModel], for a
// [Model] or the prior of a Model: theta is then all variables that the function trains, in the order of their paths.
// Because GoMLX has no vmap, a graph has a copy of the network for each run and index, so take few of them.
//
// The function is always evaluated, and never trains: dropout is off, and batch normalization uses its averages.
// A ModelFunction is safe for concurrent use if the function is. Make one with [NewModelFunction].
type ModelFunction struct {
	features, outputs int
	variables         map[string]string     // shape of each variable, by path
	valuesHash        string                // of all variables
	parts             func() *functionParts // a function, because descriptions of a belief list all numbers
}

// functionParts is what a ModelFunction needs to build graphs. It never changes.
type functionParts struct {
	function  func(scope *model.Scope, x *Node) *Node
	params    map[string]any // hyperparameters of the store, by path
	variables []functionVariable
	fresh     func() ([]spread, error) // of each trained number, as the function's initializers draw it
}

// functionVariable is a variable of a model function.
type functionVariable struct {
	path  string
	value *tensors.Tensor
	part  bool // of theta
}

// spread is the mean and the standard deviation of a number.
type spread struct{ mean, sd float32 }

// NewModelFunction returns the model function f with the values that its variables have in a store, for example after
// training, or loaded from a checkpoint. The store may have other variables too. Later changes of the store have no
// effect. If the store is nil or has no variables, the function's initializers draw the values, with the seed
// model.ParamInitialSeed or 1. f gets x [batch, features] and returns [batch, outputs], both float32. The backend
// builds graphs, and computes initial values.
//
// The error names a variable that the store lacks or has in another shape. It also reports an f that returns another
// shape, changes a variable without training, or trains a variable that is not float32.
func NewModelFunction(b compute.Backend, store *model.Store, f func(scope *model.Scope, x *Node) *Node,
	features int) (ModelFunction, error) {
	out, err := newModelFunction(b, store, f, features)
	if err != nil {
		return ModelFunction{}, fmt.Errorf("hyper.NewModelFunction: %w", err)
	}
	return out, nil
}

func newModelFunction(b compute.Backend, store *model.Store, f func(scope *model.Scope, x *Node) *Node,
	features int) (out ModelFunction, err error) {
	if f == nil || features < 1 {
		return out, fmt.Errorf("it needs a function, and a positive number of features, got %d", features)
	}
	if store == nil {
		store = model.NewStore()
	}
	parts := &functionParts{function: f, params: map[string]any{"/" + model.ParamInitialSeed: int64(1)}}
	maps.Insert(parts.params, store.IterParams())
	own := parts.newStore("")
	outputs, err := parts.discover(b, own, features)
	if err != nil {
		return out, err
	}
	initialize := sync.OnceValue(func() error { return own.InitializeVariables(b, nil) })
	if parts.variables, err = valuesOf(own, store, initialize); err != nil {
		return out, err
	}
	parts.fresh = sync.OnceValues(func() ([]spread, error) { return spreadsOf(own, initialize()) })
	out = ModelFunction{features: features, outputs: outputs, parts: func() *functionParts { return parts }}
	out.variables = map[string]string{}
	sum := sha256.New()
	for _, v := range parts.variables {
		out.variables[v.path] = v.value.Shape().String()
		sum.Write([]byte(v.path))
		if err := v.value.ConstBytes(func(data []byte) { sum.Write(bytes.Clone(data)) }); err != nil {
			return out, err
		}
	}
	out.valuesHash = hex.EncodeToString(sum.Sum(nil)[:8])
	return out, nil
}

// newStore returns a store without variables that has the hyperparameters, also in a scope.
func (p *functionParts) newStore(scope string) *model.Store {
	s := model.NewStore()
	for path, value := range p.params {
		s.SetParam(path, value)
		s.SetParam(scope+path, value)
	}
	return s
}

// discover calls the function once, which makes its variables in a store, and returns the number of its outputs.
func (p *functionParts) discover(b compute.Backend, own *model.Store, features int) (outputs int, err error) {
	const batch = 2
	err = exceptions.TryCatch[error](func() {
		g := NewGraph(b, "model function")
		defer g.Finalize()
		y := p.function(own.RootScope(), Parameter(g, "x", shapes.Make(dtypes.Float32, batch, features)))
		if y.Rank() != 2 || y.Shape().Dim(0) != batch || y.DType() != dtypes.Float32 {
			exceptions.Panicf("the function must return float32 [batch, outputs]; for a batch of %d it returns %s", batch,
				y.Shape())
		}
		outputs = y.Shape().Dim(1)
		for v := range own.IterVariables() {
			if v.ChangedInGraph(g) {
				exceptions.Panicf("the function changes its variable %s without training, so that it is another function in "+
					"each call; leave out random numbers and counters", v.Path())
			}
			if v.Trainable && v.DType() != dtypes.Float32 {
				exceptions.Panicf("the function trains its variable %s, which is %s and must be float32", v.Path(), v.Shape())
			}
		}
	})
	return outputs, err
}

// valuesOf returns the function's variables, sorted by path, with copies of their values in a store. If the store has
// no variables, the values are drawn.
func valuesOf(own, store *model.Store, initialize func() error) ([]functionVariable, error) {
	var all []functionVariable
	found := store
	if store.NumVariables() == 0 && store.Loader() == nil {
		if err := initialize(); err != nil {
			return nil, err
		}
		found = own
	}
	var lacks []string
	for v := range own.IterVariables() {
		from := found.GetVariable(v.Path())
		if from == nil || !from.HasValue() {
			lacks = append(lacks, v.Path())
			continue
		}
		if !from.Shape().Equal(v.Shape()) {
			return nil, fmt.Errorf("the function's variable %s has shape %s, but in the store it has %s: it is not the "+
				"network that was trained", v.Path(), v.Shape(), from.Shape())
		}
		value, err := from.Value()
		if err == nil {
			value, err = value.LocalClone()
		}
		if err != nil {
			return nil, fmt.Errorf("the value of variable %s: %w", v.Path(), err)
		}
		all = append(all, functionVariable{path: v.Path(), value: value, part: v.Trainable})
	}
	if len(lacks) > 0 {
		return nil, fmt.Errorf("the store lacks %d variables of the function, such as %s: it is not the network that was "+
			"trained", len(lacks), slices.Min(lacks))
	}
	slices.SortFunc(all, func(a, b functionVariable) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

// spreadsOf returns the spread of each trained number of a store with initial values: those of its variable.
func spreadsOf(own *model.Store, err error) (all []spread, _ error) {
	var variables []*model.Variable
	for v := range own.IterVariables() {
		if v.Trainable {
			variables = append(variables, v)
		}
	}
	slices.SortFunc(variables, func(a, b *model.Variable) int { return strings.Compare(a.Path(), b.Path()) })
	for _, v := range variables {
		var values []float32
		if err == nil {
			values, err = tensors.CopyFlatData[float32](v.MustValue())
		}
		sum, squares := 0.0, 0.0
		for _, x := range values {
			sum, squares = sum+float64(x), squares+float64(x)*float64(x)
		}
		n := float64(max(len(values), 1))
		m := spread{float32(sum / n), float32(math.Sqrt(max(squares/n-sum/n*sum/n, 0)))}
		all = append(all, slices.Repeat([]spread{m}, len(values))...)
	}
	return all, err
}

// Validate reports a ModelFunction that NewModelFunction did not make.
func (b ModelFunction) Validate() error {
	if b.parts == nil {
		return errors.New("hyper.ModelFunction: it has no function; make it with hyper.NewModelFunction")
	}
	return nil
}

func (b ModelFunction) Inputs() int     { return b.features }
func (b ModelFunction) NumOutputs() int { return b.outputs }

// Groups returns the number of parameters of each variable that the function trains.
func (b ModelFunction) Groups() (sizes []int) {
	for _, v := range b.parts().variables {
		if v.part {
			sizes = append(sizes, v.value.Shape().Size())
		}
	}
	return sizes
}

// Apply returns the predictions of a function with one output, [runs, indices, inputs].
func (b ModelFunction) Apply(theta, x *Node) *Node {
	var runs []*Node
	for run := range theta.Shape().Dim(0) {
		var indices []*Node
		for k := range theta.Shape().Dim(1) {
			own := Squeeze(Slice(theta, AxisElem(run), AxisElem(k)), 0, 1)
			indices = append(indices, Squeeze(b.call(own, Squeeze(Slice(x, AxisElem(run)), 0)), 1))
		}
		runs = append(runs, Stack(indices, 0))
	}
	return Stack(runs, 0)
}

// InitTrained returns the values that the variables had in the store, for each run and index. It is an [Initializer].
func (b ModelFunction) InitTrained(s rng.Stream, _, _ int, dims ...int) *Node {
	var parts []*Node
	constants := b.parts().constants(s.Graph())
	for i, v := range b.parts().variables {
		if v.part {
			parts = append(parts, Reshape(constants[i], -1))
		}
	}
	return BroadcastToDims(ExpandLeftToRank(Concatenate(parts, 0), 1+len(dims)), append([]int{s.Runs()}, dims...)...)
}

// InitFresh draws new networks: each variable from a normal distribution with the mean and the standard deviation of
// the numbers that the function's own initializer draws. It is an [Initializer]; the last axis is the parameters.
func (b ModelFunction) InitFresh(s rng.Stream, _, _ int, dims ...int) *Node {
	like, err := b.parts().fresh()
	if err != nil {
		exceptions.Panicf("hyper.ModelFunction: initial values: %v", err)
	}
	mean, sd := make([]float32, len(like)), make([]float32, len(like))
	for i, m := range like {
		mean[i], sd[i] = m.mean, m.sd
	}
	along := func(x []float32) *Node { return ExpandLeftToRank(Const(s.Graph(), x), 1+len(dims)) }
	return Add(along(mean), Mul(along(sd), s.Normal(dims...)))
}

// call returns the function's outputs at x [batch, features], [batch, outputs]. theta [N_theta] are the values of the
// variables that the function trains; nil means the values that they had in the store.
func (b ModelFunction) call(theta, x *Node) *Node {
	p, at := b.parts(), 0
	values := p.constants(x.Graph())
	for i, v := range p.variables {
		if v.part && theta != nil {
			n := v.value.Shape().Size()
			values[i] = Reshape(Slice(theta, AxisRange(at, at+n)), v.value.Shape().Dimensions...)
			at += n
		}
	}
	y := p.call(values, x)
	if want := shapes.Make(dtypes.Float32, x.Shape().Dim(0), b.outputs); !y.Shape().Equal(want) {
		exceptions.Panicf("hyper.ModelFunction: at inputs of shape %s the function returns %s, not %s", x.Shape(),
			y.Shape(), want)
	}
	return y
}

// call calls the function with given values of its variables, in a scope of its own. A variable of GoMLX gets its
// value in a graph from a parameter of the graph, unless its store embeds values. Therefore each variable is first
// entered as a constant number, and the given value then replaces the constant.
func (p *functionParts) call(values []*Node, x *Node) *Node {
	g := x.Graph()
	scope := "/" + g.UniqueName("hyper.ModelFunction")
	entered, own := model.NewStore().WithVariableAsConst(true), p.newStore(scope)
	for i, v := range p.variables {
		entered.VariableWithValue(scope+v.path, float32(0)).NodeValue(g)
		own.VariableWithShape(scope+v.path, v.value.Shape(), nil).SetTrainable(v.part).SetNodeValue(values[i])
	}
	training, outer := own.IsTraining(g), model.GetStore(g)
	own.SetTraining(g, false)
	model.SetStore(g, own)
	defer func() {
		own.SetTraining(g, training)
		model.SetStore(g, outer)
	}()
	y := p.function(own.Scope(scope), x)
	if n := own.NumVariables(); n != len(p.variables) {
		exceptions.Panicf("hyper.ModelFunction: at inputs of shape %s the function has %d variables, and had %d before",
			x.Shape(), n, len(p.variables))
	}
	return y
}

// constantsOf is the key of the constants of a function in a graph.
type constantsOf struct {
	parts  *functionParts
	within *Function
}

// constants returns the values of all variables as constants of a graph, which it makes once.
func (p *functionParts) constants(g *Graph) []*Node {
	key := constantsOf{p, g.CurrentFunc()}
	made, ok := g.State(key).([]*Node)
	if !ok {
		for _, v := range p.variables {
			made = append(made, ConstTensor(g, v.value))
		}
		g.AttachState(key, made)
	}
	return slices.Clone(made)
}
