package train

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
)

// Features returns phi(x) for a datum of each run, [runs, N_theta], of a belief with predictions linear in theta. x and
// actions are as in [Trainer.Observe].
func (t Trainer) Features(x, actions *Node) *Node {
	return datum{x: x, actions: actions}.features(t.problem().Linear)
}

// features returns phi(x), [runs, N_theta].
func (d datum) features(b hyper.LinearBase) *Node {
	input := d.input()
	one := Ones(input.Graph(), shapes.Make(dtypes.Float32, input.Shape().Dim(0), 1, 1))
	return Squeeze(b.Project(input, one), 2)
}

// features is the solver that computes the gradient from the features of the data themselves, for a belief with
// predictions linear in theta.
type features struct{ minibatches }

func newFeatures(p problem) solver { return features{minibatches{p}} }

func (w features) gradient(state State, d *draws, i loop.Index, size *Node, r Rates) []*Node {
	at, data, z := params(state), d.data.step(i, w.Batch), d.indices(i)
	trained := w.Parametric.Trained(at.Nu, z)
	f := w.Linear.Apply(w.Parametric.Complete(trained, at, z), data.X)
	slope := weighted(w.Loss.Gradient(f, w.perturbed(data, z, r.Perturbation)), w.ofData(data, z)) // [runs, n, inputs]
	fit := Transpose(w.Linear.Project(data.X, Transpose(slope, 1, 2)), 1, 2)
	fit = Mul(InsertAxes(Div(w.weight(size, r), r.NoiseVar), -1, -1), fit)
	return w.chain(at.Nu, z, Add(fit, w.pull(trained, at, z, r)))
}
