package train

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
)

// networkGradient is the gradient of the loss for a base model that knows its own: XLA makes less than half the work of it than of
// [SampledGradient]. target is what the differential model is fitted to, [runs, indices, inputs]. The anchor of a linear
// hypermodel is taken over the whole law of z instead of the sample, so that equality with SampledGradient holds in expectation,
// with less noise.
func networkGradient(m hyper.Model, kind Regularizer, p hyper.Params, x, target *Node, z index.Set, size *Node, r Rates) []*Node {
	theta := m.Hyper.Theta(p.Nu, z)
	d := thetaGradient(m, p, theta, x, target, z, size, r)
	linear, ok := m.Hyper.(hyper.Linear)
	mean, second := m.Index().Moments()
	switch {
	case kind == KL:
		grads := pullback(m.Hyper, p.Nu, z, d)
		for i, g := range Gradient(ReduceAllSum(divergence(m, p, r)), p.Nu...) {
			grads[i] = Add(grads[i], g)
		}
		return grads
	case ok && mean == 0:
		grads := pullback(linear, p.Nu, z, d)
		for i, scale := range []float64{1, second} {
			moved := MulScalar(Sub(p.Nu[i], p.Nu0[i]), scale)
			grads[i] = Add(grads[i], Div(moved, perRun(r.PriorVar, moved)))
		}
		return grads
	}
	moved := Sub(theta, m.Hyper.Theta(p.Nu0, z))
	return pullback(m.Hyper, p.Nu, z, Add(d, Div(moved, perRun(r.PriorVar, moved))))
}

// thetaGradient is the gradient of each index's misfit with respect to its theta: [runs, indices, N_theta].
func thetaGradient(m hyper.Model, p hyper.Params, theta, x, target *Node, z index.Set, size *Node, r Rates) *Node {
	if m.Prior != nil && m.Prior.Base == nil {
		theta = Add(theta, m.PriorTheta(p, z))
	}
	f, backward := m.Base.(hyper.DifferentiableBase).Forward(theta, x)
	weight := Div(MulScalar(size, 1/float64(x.Shape().Dim(1))), r.NoiseVar) // [runs]
	return backward(Mul(Sub(f, target), InsertAxes(weight, -1, -1)))
}

// perturbed are the responses y + sigma_w a^T z, [runs, indices, inputs], for standard deviations [runs].
func perturbed(m hyper.Model, data Batch, z index.Set, noise *Node) *Node {
	return Add(InsertAxes(data.Y, 1), Mul(InsertAxes(noise, -1, -1), m.Index().Dot(data.A, z, data.X)))
}

// pullback is the mean over the indices of the gradient of <d(z), g_nu(z)> with respect to nu, for d [runs, indices, N_theta].
func pullback(h hyper.Hypermodel, nu []*Node, z index.Set, d *Node) []*Node {
	if l, ok := h.(hyper.Linear); ok {
		return []*Node{ReduceMean(d, 1), l.Outer(d, z.Dense())}
	}
	d = MulScalar(StopGradient(d), 1/float64(z.Len()))
	return Gradient(ReduceAllSum(Mul(h.Theta(nu, z), d)), nu...)
}
