package train

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// ownGradient is the solver for a belief that computes its own gradient: XLA does less than half the work that autodiff
// needs. The anchor of an affine belief is averaged over the whole distribution of z instead of the sampled indices.
// The gradient therefore equals the gradient of autodiff in expectation, with less noise.
type ownGradient struct{ minibatches }

func newOwnGradient(p problem) solver { return ownGradient{minibatches{p}} }

func (w ownGradient) draw(state State, s rng.Stream, size, actions *Node, r Rates) draws {
	d := w.minibatches.draw(state, s, size, actions, r)
	w.aim(&d, state, r)
	d.prior = w.priorOf(d, params(state))
	return d
}

// priorOf returns what the prior adds to the parameters in all steps, or nil if it adds nothing. One product for all
// steps reads the matrix of a dense prior once.
func (w ownGradient) priorOf(d draws, at hyper.Params) *Node {
	if d.sets.Every {
		return nil
	}
	y := d.data.Y
	zeros := Zeros(y.Graph(), shapes.Make(y.DType(), y.Shape().Dim(0), w.Steps*d.count, w.Parametric.NumTheta()))
	return w.addedByPrior(zeros, at, d.sets)
}

// aim sets what the trained part is fitted to in all steps: the targets y + sigma_w a^T z. If the loss is quadratic,
// the fixed part of the predictions is subtracted from the targets; otherwise the fixed part is kept in d.fixed. All
// are [runs, steps, indices, Batch].
func (w ownGradient) aim(d *draws, state State, r Rates) {
	// To the belief, each step is a separate run: [runs * steps, ...].
	runs := d.data.Y.Shape().Dim(0)
	data := d.data.split(w.Steps)
	z := d.sets.Split(w.Steps)
	noise := Reshape(BroadcastToDims(InsertAxes(r.Perturbation, -1), runs, w.Steps), runs*w.Steps)
	y := w.perturbed(data, z, noise)
	steps := func(x *Node) *Node { return Reshape(x, runs, w.Steps, d.count, w.Batch) }
	if w.Additive != nil {
		fixed := w.fixedPart(state, d, data)
		if w.Loss.Quadratic() {
			y = Sub(y, fixed)
		} else {
			d.fixed = steps(fixed)
		}
	}
	d.targets = steps(y)
	if weights := w.ofData(data, z); weights != nil {
		d.weights = steps(weights)
	}
}

// of returns the part of x [runs, steps, indices, Batch] that belongs to step i, [runs, indices, Batch]; nil stays nil.
func of(i loop.Index, x *Node) *Node {
	if x == nil {
		return nil
	}
	return Squeeze(i.Rows(x, 1), 1)
}

// fixedName is the state's entry for the predictions of the fixed part at all data, for each particle: [runs, data,
// particles]. Fill computes it once, when all data come at once.
const fixedName = "replay.fixed"

// fixedPart returns the predictions of the fixed part at the data of all steps, [runs * steps, indices, Batch].
func (w ownGradient) fixedPart(state State, d *draws, data Batch) *Node {
	all := state[fixedName]
	if all == nil {
		return w.Additive.FixedPart(params(state), d.sets, data.X, w.Steps)
	}
	each := Transpose(split(row.Take(all, d.at), w.Steps), 1, 2) // [runs * steps, particles, Batch]
	if d.sets.Every {
		return each
	}
	return row.Take(each, split(d.sets.ID, w.Steps))
}

// fixedOfEach computes the entry fixedName for inputs [runs, data, features]. It takes a few particles at a time. The
// hidden units, perhaps 64 numbers for each input, then fit in some hundred megabytes.
func (w ownGradient) fixedOfEach(at hyper.Params, x *Node) *Node {
	const numbers = 1 << 27
	runs, data := x.Shape().Dim(0), x.Shape().Dim(1)
	every, few := w.every(x.Graph(), runs), max(1, numbers/(64*runs*data))
	var parts []*Node
	for from := 0; from < every.Len(); from += few {
		some := every.Slice(from, min(from+few, every.Len()))
		parts = append(parts, w.Additive.FixedPart(at, some, x, 1))
	}
	return Transpose(Concatenate(parts, 1), 1, 2)
}

func (w ownGradient) gradient(state State, d *draws, i loop.Index, size *Node, r Rates) []*Node {
	at, z := params(state), d.indices(i)
	theta := w.Parametric.Trained(at.Nu, z)
	whole := theta
	if d.sets.Every {
		whole = w.Parametric.Complete(theta, at, z)
	} else if d.prior != nil {
		whole = Add(theta, i.Rows(d.prior, d.count))
	}
	f, backward := w.Gradient.Forward(whole, i.Rows(d.data.X, w.Batch))
	if d.fixed != nil {
		f = Add(f, of(i, d.fixed))
	}
	weight := Div(MulScalar(size, 1/float64(w.Batch)), r.NoiseVar) // [runs]
	slope := weighted(w.Loss.Gradient(f, of(i, d.targets)), of(i, d.weights))
	e := backward(Mul(slope, InsertAxes(weight, -1, -1)))

	switch {
	case w.Regularize == KL:
		grads := w.pullback(at.Nu, z, e)
		for j, g := range Gradient(ReduceAllSum(w.divergence(at, r)), at.Nu...) {
			grads[j] = Add(grads[j], g)
		}
		return grads
	case w.Regularize == Decay:
		grads := w.pullback(at.Nu, z, e)
		for j, nu := range at.Nu {
			grads[j] = Add(grads[j], Div(nu, perRun(r.PriorVar, nu)))
		}
		return grads
	case w.Affine != nil && w.z.Moments().Mean == 0:
		grads := w.pullback(at.Nu, z, e)
		for j, scale := range []float64{1, w.z.Moments().Second} {
			moved := MulScalar(Sub(at.Nu[j], at.Nu0[j]), scale)
			grads[j] = Add(grads[j], Div(moved, perRun(r.PriorVar, moved)))
		}
		return grads
	}
	return w.pullback(at.Nu, z, Add(e, w.pull(theta, at, z, r)))
}
