package layers

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/support/exceptions"

	"github.com/hypermodels/hypermodels/hyper/index"
)

// Dropout multiplies each unit of h by a number of the index, which is 1/Keep or 0 (appendix E). An index is therefore
// one network, the same for all inputs, so that joint predictions have a meaning; GoMLX's own dropout draws new masks
// for each input, and none in evaluation. h is [indices, batch..., units], or [1, batch..., units] before the first
// Dropout: InsertAxes(h, 0). The result is [indices, batch..., units], which GoMLX's layers take as a batch.
//
// The index must be index.Bernoulli with a number for each unit of all Dropouts: each takes the next numbers, in the
// order of the calls. A scope that is used twice has the same numbers. hyper.Dropout is the belief of the same form.
func Dropout(scope *model.Scope, z Indices, h *Node) *Node {
	d, ok := z.of(scope).(index.Bernoulli)
	if !ok {
		exceptions.Panicf("layers.Dropout in scope %q needs indices of index.Bernoulli, got %T", scope.Scope(),
			z.Distribution)
	}
	set := z.Set(h.Graph())
	n, rank := set.Len(), h.Rank()
	if rank < 3 || h.Shape().Dim(0) != n && h.Shape().Dim(0) != 1 {
		exceptions.Panicf("layers.Dropout in scope %q needs units [%d indices or 1, batch..., units], got %s; "+
			"use InsertAxes(h, 0) before the first Dropout", scope.Scope(), n, h.Shape())
	}
	from, to := dropped(scope, h, d)
	mask := SliceAxis(Squeeze(set.Dense(), 0), 1, AxisRange(from, to)) // [indices, units]
	for range rank - 2 {
		mask = InsertAxes(mask, 1)
	}
	return Mul(h, ConvertDType(mask, h.DType()))
}

// isMask reports whether indices are masks for Dropout.
func isMask(d index.Distribution) bool {
	_, ok := d.(index.Bernoulli)
	return ok
}

// graphDropped is the name of the parameter of a graph with a scope's part of the index, map[string][2]int.
const graphDropped = "/hyper_dropped"

// dropped returns the part of the index that a Dropout takes: numbers from..to-1.
func dropped(scope *model.Scope, h *Node, d index.Bernoulli) (from, to int) {
	taken, _ := model.GetGraphParam(h.Graph(), graphDropped)
	parts, ok := taken.(map[string][2]int)
	if !ok {
		parts = map[string][2]int{}
		model.SetGraphParam(h.Graph(), graphDropped, parts)
	}
	units, path := h.Shape().Dim(-1), scope.Scope()
	part, again := parts[path]
	if !again {
		for _, other := range parts {
			part[0] = max(part[0], other[1])
		}
		part[1] = part[0] + units
		parts[path] = part
	}
	switch {
	case part[1]-part[0] != units:
		exceptions.Panicf("layers.Dropout in scope %q has %d units, and had %d before; give each layer its own scope",
			path, units, part[1]-part[0])
	case part[1] > d.N:
		exceptions.Panicf("layers.Dropout in scope %q: all Dropouts so far have %d units, but index.Bernoulli has %d "+
			"numbers; N must be the number of all their units", path, part[1], d.N)
	}
	return part[0], part[1]
}
