package train

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
)

// autodiff is the solver that computes the gradient of the loss by automatic differentiation. It works for every
// belief.
type autodiff struct{ minibatches }

func newAutodiff(p problem) solver { return autodiff{minibatches{p}} }

func (w autodiff) gradient(state State, d *draws, i loop.Index, size *Node, r Rates) []*Node {
	at := params(state)
	return Gradient(ReduceAllSum(w.objective(at, d.data.step(i, w.Batch), d.indices(i), size, r)), at.Nu...)
}

// Objective returns the paper's L~(nu, D~, Z~) of section 2.1 for each run, [runs]:
//
//	1/|Z~| sum_z [ 1/sigma_w^2 |D|/|D~| sum_(x,y,a) loss(f_{g_nu(z)}(x), y + sigma_w a^T z)
//	               + 1/(2 sigma_p^2) ||g_nu(z) - g_nu0(z)||^2 ]
//
// Each datum counts by its weight for z. The second line is for the regularizer Anchor; other regularizers have another
// one. With KL, L~ is minus the evidence lower bound of Bayes by Backprop (Blundell et al. 2015), up to a constant.
// size is |D|, a float32 scalar; |D~| is the number of data in the batch. With PerDatum, Z~ has one index for each
// datum, each datum sees only its own index, and the second line is the mean over the first Config.Indices indices.
func (t Trainer) Objective(at hyper.Params, data Batch, z index.Set, size *Node, r Rates) *Node {
	return t.problem().objective(at, data, z, size, r)
}

// objective is [Trainer.Objective].
func (p problem) objective(at hyper.Params, data Batch, z index.Set, size *Node, r Rates) *Node {
	weight := Mul(MulScalar(size, 1/float64(data.Y.Shape().Dim(1))), OnesLike(r.NoiseVar))
	var misfit *Node
	if p.ownIndices() {
		misfit = p.misfitOfEach(at, data, z, r)
		z = z.Slice(0, p.Indices)
	} else {
		misfit = p.misfit(at, data, z, r)
	}
	return Add(Mul(Div(weight, r.NoiseVar), misfit), p.regularizer(at, z, r))
}

// misfit returns the sum over the data of the loss, averaged over the indices, [runs].
func (p problem) misfit(at hyper.Params, data Batch, z index.Set, r Rates) *Node {
	f, y := p.belief.Predict(at, z, data.X), p.perturbed(data, z, r.Perturbation)
	return ReduceMean(ReduceSum(weighted(p.Loss.Value(f, y), p.ofData(data, z)), 2), 1)
}

// misfitOfEach returns the sum over the data of the loss, where each datum has its own index, [runs]. If the belief
// cannot predict each datum by the datum's own index, each datum becomes a run.
func (p problem) misfitOfEach(at hyper.Params, data Batch, z index.Set, r Rates) *Node {
	runs, n := data.Y.Shape().Dim(0), data.Y.Shape().Dim(1)
	one := data.split(n)
	own := z.Split(n)
	apart := func(x *Node) *Node { return Reshape(x, runs, n) } // x is [runs * n, 1, 1]
	var f *Node
	if p.Each != nil {
		f = p.Each.PredictEach(at.Nu, z, data.X)
	} else {
		f = apart(p.belief.Predict(repeated(at, n), own, one.X))
	}
	y := apart(p.perturbed(one, own, repeat(r.Perturbation, n)))
	loss := p.Loss.Value(f, y)
	if weights := p.ofData(one, own); weights != nil {
		loss = Mul(loss, apart(weights))
	}
	return ReduceSum(loss, 1)
}

// repeated returns parameters with each run repeated n times.
func repeated(at hyper.Params, n int) hyper.Params {
	out := hyper.Params{Fixed: map[string]*Node{}}
	for i := range at.Nu {
		out.Nu, out.Nu0 = append(out.Nu, repeat(at.Nu[i], n)), append(out.Nu0, repeat(at.Nu0[i], n))
	}
	for name, x := range at.Fixed {
		out.Fixed[name] = repeat(x, n)
	}
	return out
}

// repeat returns x [runs, ...] with each run repeated n times, [runs * n, ...].
func repeat(x *Node, n int) *Node {
	dims := slices.Clone(x.Shape().Dimensions)
	x = BroadcastToDims(InsertAxes(x, 1), slices.Insert(slices.Clone(dims), 1, n)...)
	dims[0] *= n
	return Reshape(x, dims...)
}
