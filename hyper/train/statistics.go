package train

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
)

// Statistics are what the loss of a base model that is linear in theta needs of a set of data: with Phi's rows phi(x),
// for each run
//
//	Gram  Phi^T Phi, in the base model's own form
//	Y     Phi^T y   [runs, N_theta]
//	A     Phi^T A   [runs, N_theta, width], or nil where AT is
//	AT    its transpose, particle-major as nu is: what the sums of an ensemble over all data are kept in
//
// For index.PerArm, whose A_t lives in the block of the arm played, A's row of an arm is that block: the full matrix
// would be block diagonal.
type Statistics struct {
	Gram, Y, A, AT *Node
	// Picked says that A is Phi^T A z for the indices at hand, [runs, N_theta, n].
	Picked bool
}

// Collapse computes the statistics of a batch.
func Collapse(b hyper.LinearBase, data Batch) Statistics {
	sums := b.Project(data.X, Concatenate([]*Node{InsertAxes(data.Y, -1), data.A}, 2))
	rows, columns := sums.Shape().Dim(1), sums.Shape().Dim(2)
	runs := data.Y.Shape().Dim(0)
	return Statistics{
		Gram: b.Gram(data.X),
		Y:    Reshape(Slice(sums, AxisRange(), AxisRange(), AxisRange(0, 1)), runs, rows),
		A:    Slice(sums, AxisRange(), AxisRange(), AxisRange(1, columns)),
	}
}

// collapseOne is Collapse of a single datum, with AT: the datum's features by its perturbations.
func collapseOne(b hyper.LinearBase, data Batch) Statistics {
	phi := Squeeze(b.Project(data.X, OnesLike(InsertAxes(data.Y, -1))), 2)
	return Statistics{Gram: b.Gram(data.X), Y: Mul(data.Y, phi), AT: Mul(InsertAxes(phi, 1), Transpose(data.A, 1, 2))}
}

// Add returns the statistics of the union of two sets of data.
func (s Statistics) Add(o Statistics) Statistics {
	out := Statistics{Gram: Add(s.Gram, o.Gram), Y: Add(s.Y, o.Y), Picked: s.Picked}
	if s.AT != nil {
		out.AT = Add(s.AT, o.AT)
	} else {
		out.A = Add(s.A, o.A)
	}
	return out
}

// perturbation returns Phi^T A z, [runs, n, N_theta].
func (s Statistics) perturbation(m hyper.Model, z index.Set) *Node {
	switch {
	case s.Picked:
		return Transpose(s.A, 1, 2)
	case s.AT != nil && z.Every:
		return s.AT
	}
	if d, ok := m.Index().(index.PerArm); ok {
		return hyper.PerParameter(d.Arms, d.M).Mul(s.A, z.Dense())
	}
	return m.Index().Dot(s.A, z, nil) // rows of A in the place of data
}

// residual is the gradient of the loss in parameter space at each index, e(z) [runs, n, N_theta]:
//
//	weight/sigma_w^2 (Phi^T Phi theta(z) - Phi^T y - sigma_w Phi^T A z) + (g_nu(z) - g_nu0(z))/sigma_p^2
//
// with theta(z) = g_nu(z) + D B z and weight = |D|/|D~|.
func (s Statistics) residual(m hyper.Model, p hyper.Params, z index.Set, weight *Node, r Rates) *Node {
	fit := Sub(s.gramMul(m.Base.(hyper.LinearBase), m.Theta(p, z)), InsertAxes(s.Y, 1))
	fit = Sub(fit, Mul(InsertAxes(r.Perturbation, -1, -1), s.perturbation(m, z)))
	moved := Sub(m.Hyper.Theta(p.Nu, z), m.Hyper.Theta(p.Nu0, z))
	return Add(Mul(InsertAxes(Div(weight, r.NoiseVar), -1, -1), fit), Div(moved, InsertAxes(r.PriorVar, -1, -1)))
}

// gramMul returns Phi^T Phi theta for theta [runs, n, N_theta].
func (s Statistics) gramMul(b hyper.LinearBase, theta *Node) *Node {
	if s.Gram.Rank() == 2 { // diagonal: XLA would not leave out the transpositions
		return Mul(InsertAxes(s.Gram, 1), theta)
	}
	return Transpose(b.GramMul(s.Gram, Transpose(theta, 1, 2)), 1, 2)
}

// affine returns h [runs, N_theta] and the entries of G within the layout, where the residual is e(z) = h + G z: for a
// linear hypermodel whose layout its prior shares. exact is false when G has entries outside the layout, which matter
// to e(z) but not to the expected gradient.
func (s Statistics) affine(m hyper.Model, p hyper.Params, weight *Node, r Rates) (h, g *Node, exact bool) {
	l, b := m.Hyper.(hyper.Linear).Layout, m.Base.(hyper.LinearBase)
	mu, c := m.Affine(p)
	data := InsertAxes(Div(weight, r.NoiseVar), -1)
	prior := InsertAxes(r.PriorVar, -1)
	pull := Squeeze(b.GramMul(s.Gram, InsertAxes(mu, -1)), 2)
	h = Add(Mul(data, Sub(pull, s.Y)), Div(Sub(p.Nu[0], p.Nu0[0]), prior))

	noise, whole := s.noise(m, l)
	dense := len(l.Sizes) == 1
	var spread *Node
	if diagonal := s.Gram.Rank() == 2; dense || diagonal {
		spread = b.GramMul(s.Gram, c)
		exact = whole
	} else {
		spread = l.Restrict(b.GramMul(s.Gram, l.Expand(c)))
	}
	fit := Sub(spread, Mul(InsertAxes(r.Perturbation, -1, -1), noise))
	g = Add(Mul(InsertAxes(data, -1), fit), Div(Sub(p.Nu[1], p.Nu0[1]), InsertAxes(prior, -1)))
	return h, g, exact
}

// noise returns the entries of Phi^T A within the layout, [runs, N_theta, Width]; whole says that there are no others.
func (s Statistics) noise(m hyper.Model, l hyper.Layout) (a *Node, whole bool) {
	dense := len(l.Sizes) == 1
	if d, ok := m.Index().(index.PerArm); ok {
		blocks := hyper.PerParameter(d.Arms, d.M)
		if l.Equal(blocks) {
			return s.A, true
		}
		return l.Restrict(blocks.Expand(s.A)), dense
	}
	if dense {
		return s.A, true
	}
	return l.Restrict(s.A), false
}

// GradientAt is the gradient of [Loss] over the indices z, from the data's statistics. weight is |D|/|D~|, [runs].
func (s Statistics) GradientAt(m hyper.Model, p hyper.Params, z index.Set, weight *Node, r Rates) []*Node {
	if l, ok := m.Hyper.(hyper.Linear); ok {
		return s.linearGradientAt(l, m, p, z, weight, r)
	}
	return pullBack(m, p, z, s.residual(m, p, z, weight, r))
}

// pullBack is the gradient with respect to nu for gradients e [runs, n, N_theta] with respect to the parameters of each index.
func pullBack(m hyper.Model, p hyper.Params, z index.Set, e *Node) []*Node {
	if _, ok := m.Hyper.(hyper.Ensemble); ok && z.Every {
		return []*Node{MulScalar(e, 1/float64(z.Len()))}
	}
	surrogate := MulScalar(ReduceAllSum(Mul(StopGradient(e), m.Hyper.Theta(p.Nu, z))), 1/float64(z.Len()))
	return Gradient(surrogate, p.Nu...)
}

// fewData tells whether statistics of so many data are larger than the data: Phi^T Phi of a linear base model with many features.
func fewData(b hyper.BaseModel, data int) bool {
	l, ok := b.(base.Linear)
	return ok && data < l.Features
}

// gradientOfFew is GradientAt from the data themselves.
func gradientOfFew(m hyper.Model, p hyper.Params, data Batch, z index.Set, weight *Node, r Rates) []*Node {
	b := m.Base.(hyper.LinearBase)
	misfit := Sub(b.Apply(m.Theta(p, z), data.X), perturbed(m, data, z, r.Perturbation)) // [runs, n, inputs]
	fit := Transpose(b.Project(data.X, Transpose(misfit, 1, 2)), 1, 2)
	moved := Sub(m.Hyper.Theta(p.Nu, z), m.Hyper.Theta(p.Nu0, z))
	return pullBack(m, p, z, Add(Mul(InsertAxes(Div(weight, r.NoiseVar), -1, -1), fit), Div(moved, InsertAxes(r.PriorVar, -1, -1))))
}

func (s Statistics) linearGradientAt(l hyper.Linear, m hyper.Model, p hyper.Params, z index.Set, weight *Node, r Rates) []*Node {
	var e *Node
	if m.Prior == nil || m.Prior.Layout.Equal(l.Layout) {
		if h, g, exact := s.affine(m, p, weight, r); exact { // one pass over z instead of five
			e = Add(InsertAxes(h, 1), l.Mul(g, z.Dense()))
		}
	}
	if e == nil {
		e = s.residual(m, p, z, weight, r)
	}
	return []*Node{ReduceMean(e, 1), l.Outer(e, z.Dense())}
}

// ExactGradient is the gradient of the loss with the expectation over z in closed form, from the data's statistics.
//
// With one-hot z it is the mean over all particles. With g_nu(z) = mu + C z the residual is affine, e(z) = h + G z, and
// since every other law here has E z = 0 and E z z^T = s I, the gradient is h for mu and s G for C, within C's layout.
func (s Statistics) ExactGradient(m hyper.Model, p hyper.Params, weight *Node, r Rates) []*Node {
	if d, finite := m.Index().(index.Enumerable); finite {
		return s.GradientAt(m, p, d.All(weight.Graph(), weight.Shape().Dim(0)), weight, r)
	}
	h, g, _ := s.affine(m, p, weight, r)
	_, second := m.Index().Moments()
	return []*Node{h, MulScalar(g, second)}
}
