package train

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/internal/loop"
)

// features is the route that computes the gradient from the features of the data themselves, for a belief with
// predictions linear in theta.
type features struct{ minibatches }

func newFeatures(p problem) route { return features{minibatches{p}} }

func (w features) gradient(state State, d *draws, i loop.Index, size *Node, r Rates) []*Node {
	at, data, z := params(state), d.data.step(i, w.Batch), d.indices(i)
	trained := w.Parametric.Trained(at.Nu, z)
	f := w.Linear.Apply(w.Parametric.Complete(trained, at, z), data.X)
	slope := weighted(w.Loss.Gradient(f, w.perturbed(data, z, r.Perturbation)), w.ofData(data, z)) // [runs, n, inputs]
	fit := Transpose(w.Linear.Project(data.X, Transpose(slope, 1, 2)), 1, 2)
	fit = Mul(InsertAxes(Div(w.weight(size, r), r.NoiseVar), -1, -1), fit)
	return w.chain(at.Nu, z, Add(fit, w.pull(trained, at, z, r)))
}
