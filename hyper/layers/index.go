package layers

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/optimizer"
	"github.com/gomlx/gomlx/support/exceptions"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Hyperparameters, read from the scope.
const (
	// ParamSeed is the seed of all indices and initial values, an int; the default is 0.
	ParamSeed = "hyper_seed"
	// ParamIndexSet says how the indices of a training step are drawn, a string: "iid", the default, "antithetic"
	// (pairs z and -z), or "frame" (see index.Frame). Antithetic and frame need an even number of indices.
	ParamIndexSet = "hyper_index_set"
	// ParamEvaluation is the number of indices in evaluation, an int; the default is the number in training. It is not
	// read where indices are given ([With]), counted ([Sampler]), or listed (index.Enumerable).
	ParamEvaluation = "hyper_evaluation_indices"
)

// Names of parameters of the graph: what one part of this package leaves there for another.
const (
	graphGiven   = "/hyper_given"   // *Node: indices that With gives
	graphCount   = "/hyper_count"   // int: number of indices that a Sampler asks for
	graphIndices = "/hyper_indices" // madeIndices, for all layers and Loss
	graphLayers  = "/hyper_layers"  // []*layer, for Loss
)

// Indices are the indices z of a model. Index makes them.
type Indices struct {
	Distribution index.Distribution
	scope        *model.Scope
	n            int
}

// Index returns the indices of a model: n new indices in each training step. In evaluation the indices are the same in
// each call: every index, if the distribution can list them; otherwise the number of indices is the number that a
// [Sampler] asks for, or else [ParamEvaluation], or else n. [With] replaces the indices, in training too.
func Index(scope *model.Scope, d index.Distribution, n int) Indices {
	if err := index.Validate(d); err != nil {
		exceptions.Panicf("layers.Index in scope %q: %v", scope.Scope(), err)
	}
	if d.Moments().Blocks > 0 {
		exceptions.Panicf("layers.Index in scope %q: %T is for arms, not for networks", scope.Scope(), d)
	}
	if n < 1 {
		exceptions.Panicf("layers.Index in scope %q: the number of indices must be positive, got %d", scope.Scope(), n)
	}
	return Indices{Distribution: d, scope: scope, n: n}
}

// With gives a model the indices z for the graph of z, in place of the indices that Index would draw: float32
// [indices, N_z], or for one-hot indices also the positions of their ones, int32 [indices]. Call it before the model.
func With(z *Node) {
	if _, late := model.GetGraphParam(z.Graph(), graphIndices); late {
		exceptions.Panicf("layers.With: the model has its indices already; call With before the model")
	}
	model.SetGraphParam(z.Graph(), graphGiven, z)
}

// of returns the distribution of the indices of a layer.
func (z Indices) of(scope *model.Scope) index.Distribution {
	if z.scope == nil {
		exceptions.Panicf("the layer in scope %q needs indices: pass it what layers.Index returns", scope.Scope())
	}
	return z.Distribution
}

// Set returns the indices in a graph, with one run.
func (z Indices) Set(g *Graph) index.Set {
	if z.scope == nil {
		exceptions.Panicf("a layer of package layers needs indices: pass it what layers.Index returns")
	}
	if made, ok := model.GetGraphParam(g, graphIndices); ok {
		m := made.(madeIndices)
		if m.of.scope.Scope() != z.scope.Scope() || m.of.Distribution != z.Distribution || m.of.n != z.n {
			exceptions.Panicf("layers.Index in scope %q: the model has indices of another call, in scope %q; "+
				"call Index once, and pass its result to all layers", z.scope.Scope(), m.of.scope.Scope())
		}
		return m.set
	}
	set := z.make(g)
	model.SetGraphParam(g, graphIndices, madeIndices{z, set})
	return set
}

// madeIndices are the indices of a graph.
type madeIndices struct {
	of  Indices
	set index.Set
}

// indicesOf returns the indices of a graph, which a layer has made.
func indicesOf(g *Graph, caller string) madeIndices {
	made, ok := model.GetGraphParam(g, graphIndices)
	if !ok {
		exceptions.Panicf("%s: the model has no layer with indices; see layers.Index", caller)
	}
	return made.(madeIndices)
}

func (z Indices) make(g *Graph) index.Set {
	if given, ok := model.GetGraphParam(g, graphGiven); ok {
		return z.given(given.(*Node))
	}
	s := stream(z.scope, g)
	if z.scope.IsTraining(g) {
		return z.draw(s.Named("training").At(optimizer.GetGlobalStepVar(z.scope).NodeValue(g)), z.n)
	}
	if d, ok := z.Distribution.(index.Enumerable); ok {
		return d.All(g, 1)
	}
	n := model.GetParamOr(z.scope, ParamEvaluation, z.n)
	if counted, ok := model.GetGraphParam(g, graphCount); ok {
		n = counted.(int)
	}
	if n < 1 {
		exceptions.Panicf("%s in scope %q must be positive, got %d", ParamEvaluation, z.scope.Scope(), n)
	}
	return z.draw(s.Named("evaluation"), n)
}

// given returns the indices of With.
func (z Indices) given(x *Node) index.Set {
	dim := z.Distribution.Dim()
	if d, ok := z.Distribution.(index.Enumerable); ok && x.Rank() == 1 && x.DType() == dtypes.Int32 {
		return index.IDs(d, InsertAxes(x, 0))
	}
	if x.Rank() != 2 || x.Shape().Dim(1) != dim || x.DType() != dtypes.Float32 {
		exceptions.Panicf("layers.With: indices of shape %s, but layers.Index in scope %q needs float32 [indices, %d]",
			x.Shape(), z.scope.Scope(), dim)
	}
	return index.Vectors(InsertAxes(x, 0))
}

// draw draws n indices as ParamIndexSet says.
func (z Indices) draw(s rng.Stream, n int) index.Set {
	d, of := z.Distribution, model.GetParamOr(z.scope, ParamIndexSet, "iid")
	if of == "iid" {
		return d.Sample(s, n)
	}
	m := d.Moments()
	switch {
	case of != "antithetic" && of != "frame":
		exceptions.Panicf("%s in scope %q must be iid, antithetic or frame, got %q", ParamIndexSet, z.scope.Scope(), of)
	case n%2 == 1:
		exceptions.Panicf("layers.Index in scope %q: %s needs an even number of indices, got %d", z.scope.Scope(), of, n)
	case m.Mean != 0 || of == "frame" && m.Pairs == 0:
		exceptions.Panicf("layers.Index in scope %q: %T has no %s indices", z.scope.Scope(), d, of)
	case of == "frame":
		return index.Frame(d, s, 1, n)
	}
	half := d.Sample(s, n/2).Dense()
	return index.Vectors(Concatenate([]*Node{half, Neg(half)}, 1))
}

// stream returns the stream of a scope: one run, with the seed ParamSeed.
func stream(scope *model.Scope, g *Graph) rng.Stream {
	seed := uint64(model.GetParamOr(scope, ParamSeed, 0))
	return rng.New(Const(g, []uint64{seed})).Named("layers").Named(scope.Scope())
}
