package train

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
)

// autodiff is the gradient of the loss by automatic differentiation. It works for every belief.
type autodiff struct{ minibatches }

func newAutodiff(p problem) route { return autodiff{minibatches{p}} }

func (w autodiff) gradient(state State, d *draws, i loop.Index, size *Node, r Rates) []*Node {
	at := params(state)
	return Gradient(ReduceAllSum(w.objective(at, d.data.step(i, w.Batch), d.indices(i), size, r)), at.Nu...)
}

// Objective is the paper's L~(nu, D~, Z~) of section 2.1 for each run, [runs]:
//
//	1/|Z~| sum_z [ 1/sigma_w^2 |D|/|D~| sum_(x,y,a) loss(f_{g_nu(z)}(x), y + sigma_w a^T z)
//	               + 1/(2 sigma_p^2) ||g_nu(z) - g_nu0(z)||^2 ]
//
// with each datum counted by its weight for z, and with another second line for another regularizer: with KL it is
// minus the evidence lower bound of Bayes by Backprop (Blundell et al. 2015), up to a constant. size is |D|, a float32
// scalar; |D~| is the number of data in the batch.
func (t Trainer) Objective(at hyper.Params, data Batch, z index.Set, size *Node, r Rates) *Node {
	return t.problem().objective(at, data, z, size, r)
}

// objective is [Trainer.Objective].
func (p problem) objective(at hyper.Params, data Batch, z index.Set, size *Node, r Rates) *Node {
	f, y := p.belief.Predict(at, z, data.X), p.perturbed(data, z, r.Perturbation)
	misfit := ReduceSum(weighted(p.Loss.Value(f, y), p.ofData(data, z)), 2) // [runs, indices]
	weight := Mul(MulScalar(size, 1/float64(data.Y.Shape().Dim(1))), OnesLike(r.NoiseVar))
	return Add(Mul(Div(weight, r.NoiseVar), ReduceMean(misfit, 1)), p.regularizer(at, z, r))
}
