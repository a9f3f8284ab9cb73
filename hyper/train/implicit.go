package train

import (
	"errors"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
)

// The predictions of a network are linear in the parameters of its last layer, and those of an ensemble or a linear hypermodel are
// linear in nu there: given the other layers, the loss of a step is a quadratic function of the last layer's nu. Instead of a
// gradient step, which is stable only for small step sizes, one can take the implicit (proximal) step
//
//	nu+ = argmin L~(nu+) / |D| + |nu+ - nu|^2 / (2 alpha) = nu - (H + I / alpha)^-1 grad L~ / |D|
//
// with H the Hessian of L~ / |D|. It is stable for every alpha, tends to the gradient step for small alpha, and to the minimiser
// of the minibatch for large (Toulis and Airoldi 2017 study it as implicit SGD). The system is solved by conjugate gradients.

// implicitIterations of conjugate gradients: the error falls by the square root of the condition number, and the first few
// directions hold most of the gradient.
const implicitIterations = 8

// LastLayer says how the parameters of a network's last layer are moved.
type LastLayer string

// The ways to move the last layer.
const (
	GradientStep LastLayer = "gradient" // like all others: the paper's
	ImplicitStep LastLayer = "implicit" // by an implicit step
)

// implicitFor reports why a model cannot make implicit steps.
func (c Config) implicitFor(m hyper.Model) error {
	_, hasLast := m.Base.(hyper.LayeredBase)
	l, linear := m.Hyper.(hyper.Linear)
	_, ensemble := m.Hyper.(hyper.Ensemble)
	switch {
	case !hasLast:
		return errors.New("LastLayer implicit needs a network as base model; use gradient")
	case !ensemble && !(linear && len(l.Sizes) == 1):
		return errors.New("LastLayer implicit needs an ensemble or a dense linear hypermodel; use gradient")
	case c.Optimizer != "" && c.Optimizer != "sgd":
		return fmt.Errorf("LastLayer implicit is a step of sgd, not of %s; use gradient", c.Optimizer)
	case c.Regularize == KL:
		return errors.New("LastLayer implicit goes with the regularizer anchor")
	}
	return nil
}

// implicit returns nu after an implicit step on the last layer, given nu after a step of SGD: grads are the gradients of L~ / |D|.
func (t Trainer) implicit(before, after, grads []*Node, x *Node, z index.Set, size *Node, r Rates) []*Node {
	m := t.Model
	base := m.Base.(hyper.LayeredBase)
	features := base.Features(m.Hyper.Theta(before, z), x) // [runs, indices, last, inputs]
	last := features.Shape().Dim(2)
	part, axis := lastRows(m.Hyper, last)
	weight := Reciprocal(MulScalar(r.NoiseVar, float64(x.Shape().Dim(1)))) // of a datum in L~ / |D|
	anchor := Reciprocal(Mul(r.PriorVar, ConvertDType(size, dtypes.Float32)))
	_, second := m.Index().Moments()
	multiply := func(v []*Node) []*Node { // (H + I / alpha) v
		f := Einsum("rnf,rnfb->rnb", part.Theta(v, z), features)
		out := pullback(part, v, z, Einsum("rnb,rnfb->rnf", Mul(f, InsertAxes(weight, -1, -1)), features))
		for j := range out {
			own, inverse := anchor, Reciprocal(r.Step)
			switch m.Hyper.(type) {
			case hyper.Ensemble: // the regularizer is a mean over the visited particles
				own = MulScalar(own, 1/float64(z.Len()))
			case hyper.Linear:
				if j > 0 {
					own = MulScalar(own, second)
				}
				if j > 0 && r.MapStep != nil {
					inverse = Div(inverse, r.MapStep)
				}
			}
			out[j] = Add(out[j], Mul(v[j], perRun(Add(own, inverse), v[j])))
		}
		return out
	}
	tail := func(v *Node) *Node { // the last layer's rows
		n := v.Shape().Dim(axis)
		return sliceAxis(v, axis, n-last, n)
	}
	g := make([]*Node, len(grads))
	for j := range g {
		g[j] = tail(grads[j])
	}
	out := make([]*Node, len(after))
	for j, d := range conjugateGradients(multiply, g, implicitIterations) {
		head := sliceAxis(after[j], axis, 0, after[j].Shape().Dim(axis)-last)
		out[j] = Concatenate([]*Node{head, Sub(tail(before[j]), d)}, axis)
	}
	return out
}

// lastRows is the hypermodel of the last parameters of theta alone, and the axis of nu that they lie on.
func lastRows(h hyper.Hypermodel, n int) (part hyper.Hypermodel, axis int) {
	if e, ok := h.(hyper.Ensemble); ok {
		e.Params = n
		return e, 2
	}
	l := h.(hyper.Linear)
	l.Layout = hyper.Dense(n, l.Width)
	return l, 1
}

// conjugateGradients solves A x = b for a symmetric positive definite A given by its products, for each run by itself; x and b are
// lists of nodes whose first axis is the runs.
func conjugateGradients(multiply func([]*Node) []*Node, b []*Node, iterations int) []*Node {
	x := make([]*Node, len(b))
	for j := range x {
		x[j] = ZerosLike(b[j])
	}
	residual, direction := b, b
	norm2 := dot(b, b)
	for range iterations {
		image := multiply(direction)
		length := Div(norm2, MaxScalar(dot(direction, image), 1e-30))
		x = combine(x, length, direction)
		residual = combine(residual, Neg(length), image)
		next := dot(residual, residual)
		direction = combine(residual, Div(next, MaxScalar(norm2, 1e-30)), direction)
		norm2 = next
	}
	return x
}

// dot is the inner product of each run, [runs].
func dot(a, b []*Node) *Node {
	var sum *Node
	for j := range a {
		runs := a[j].Shape().Dim(0)
		term := ReduceSum(Reshape(Mul(a[j], b[j]), runs, a[j].Shape().Size()/runs), 1)
		if sum == nil {
			sum = term
		} else {
			sum = Add(sum, term)
		}
	}
	return sum
}

// combine is x + c y, with c [runs].
func combine(x []*Node, c *Node, y []*Node) []*Node {
	out := make([]*Node, len(x))
	for j := range x {
		out[j] = Add(x[j], Mul(perRun(c, y[j]), y[j]))
	}
	return out
}

func sliceAxis(x *Node, axis, from, to int) *Node {
	specs := make([]SliceAxisSpec, x.Rank())
	for i := range specs {
		specs[i] = AxisRange()
	}
	specs[axis] = AxisRange(from, to)
	return Slice(x, specs...)
}
