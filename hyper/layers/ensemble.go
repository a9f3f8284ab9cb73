package layers

import (
	"slices"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/support/exceptions"
)

// Ensemble makes particles of a model function, one for each number of the index, in scopes of their own: "particle0"
// and so on. Each particle returns [batch..., outputs] of the same shape; the result is [indices, batch..., outputs].
// With one-hot indices an index is a particle (section 2.2). With others, an index is a combination of particles, sum_i
// z_i f_i.
func Ensemble(scope *model.Scope, z Indices, particle func(scope *model.Scope) *Node) *Node {
	var all []*Node
	for i := range z.of(scope).Dim() {
		all = append(all, particle(scope.In("particle%d", i)))
	}
	return Choose(z, Stack(all, 0))
}

// Choose returns the outputs of particles at each index: [indices, batch..., outputs] for outputs
// [particles, batch..., outputs]. See [Ensemble]; use Choose for particles that one layer makes. The first axis must be
// the axis of the particles. Choose panics if its length is wrong, but cannot detect a wrong order of axes if the batch
// size equals the number of particles. In the outputs of GoMLX's fnn the particles are the second axis:
//
//	f := fnn.New(scope, x, 2).WithEnsembleSize(5).Done() // [batch, particles, outputs]
//	f = layers.Choose(z, Transpose(f, 0, 1))             // [indices, batch, outputs]
func Choose(z Indices, outputs *Node) *Node {
	set := z.Set(outputs.Graph())
	if n := z.Distribution.Dim(); outputs.Shape().Dim(0) != n {
		exceptions.Panicf("layers.Choose: %d particles for indices of %d numbers; outputs must be "+
			"[particles, batch..., outputs], got %s", outputs.Shape().Dim(0), n, outputs.Shape())
	}
	switch {
	case set.Every:
		return outputs
	case set.ID != nil:
		return Gather(outputs, Reshape(set.ID, -1, 1))
	}
	weights := Squeeze(set.Dense(), 0) // [indices, particles]
	rest := outputs.Shape().Dimensions[1:]
	f := Einsum("np,pb->nb", weights, Reshape(outputs, outputs.Shape().Dim(0), -1))
	return Reshape(f, slices.Concat([]int{weights.Shape().Dim(0)}, rest)...)
}

// Prior makes a fixed random function of a model function: its variables are drawn once and never trained, no gradient
// flows through it, and its outputs are multiplied by scale. Add it to the outputs of a model (an additive prior,
// section 2.5). The variables of its scope belong to the prior: the model must not use them elsewhere. The outputs
// differ between indices only if the function depends on the indices, as [FNN] and [Ensemble] do.
func Prior(scope *model.Scope, scale float64, function func(scope *model.Scope) *Node) *Node {
	checkScale(scope, scale)
	scope = scope.In("prior")
	before := map[string]bool{}
	for v := range scope.Store().IterVariables() {
		before[v.Path()] = true
	}
	f := function(scope)
	for v := range scope.Store().IterVariables() {
		if v.Trainable && !before[v.Path()] && !strings.HasPrefix(v.Path(), scope.Scope()+"/") {
			exceptions.Panicf("layers.Prior in scope %q: its function makes the variable %s outside of this scope, where it "+
				"would be trained; use the scope that the function gets", scope.Scope(), v.Path())
		}
	}
	for v := range scope.IterVariables() {
		v.SetTrainable(false)
	}
	return StopGradient(MulScalar(f, scale))
}

// checkScale panics if the scale of a prior is negative or not a number.
func checkScale(scope *model.Scope, scale float64) {
	if !(scale >= 0) {
		exceptions.Panicf("the prior's scale in scope %q must not be negative, got %g", scope.Scope(), scale)
	}
}
