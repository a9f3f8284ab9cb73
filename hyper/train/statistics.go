package train

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
)

// statistics holds what the loss of a base model that is linear in theta needs to know about a set of data. Phi has the
// rows phi(x). For each run the statistics are
//
//	gram  Phi^T Phi, in the base model's own form
//	y     Phi^T y   [runs, N_theta]
//	a     Phi^T A   [runs, N_theta, width], or nil if at is set
//	at    the transpose of a, particle-major as nu is: the sums of an ensemble over all data are kept in this form
//
// If an index has a block for each arm, and A_t lies in the block of the arm played, each row of a holds the block of
// its arm. The full matrix would be block diagonal.
type statistics struct {
	gram, y, a, at *Node
	// picked says that a is Phi^T A z for the given indices, [runs, N_theta, n].
	picked bool
}

// collapse computes the statistics of a batch.
func collapse(b hyper.LinearBase, data Batch) statistics {
	sums := b.Project(data.X, Concatenate([]*Node{InsertAxes(data.Y, -1), data.A}, 2))
	rows, columns := sums.Shape().Dim(1), sums.Shape().Dim(2)
	runs := data.Y.Shape().Dim(0)
	return statistics{
		gram: b.Gram(data.X),
		y:    Reshape(Slice(sums, AxisRange(), AxisRange(), AxisRange(0, 1)), runs, rows),
		a:    Slice(sums, AxisRange(), AxisRange(), AxisRange(1, columns)),
	}
}

// collapseOne is collapse for a single datum. It sets at: the outer product of the datum's perturbations and features.
func collapseOne(b hyper.LinearBase, data Batch) statistics {
	phi := Squeeze(b.Project(data.X, OnesLike(InsertAxes(data.Y, -1))), 2)
	return statistics{gram: b.Gram(data.X), y: Mul(data.Y, phi), at: Mul(InsertAxes(phi, 1), Transpose(data.A, 1, 2))}
}

// add returns the statistics of the union of two sets of data.
func (s statistics) add(o statistics) statistics {
	out := statistics{gram: Add(s.gram, o.gram), y: Add(s.y, o.y), picked: s.picked}
	if s.at != nil {
		out.at = Add(s.at, o.at)
	} else {
		out.a = Add(s.a, o.a)
	}
	return out
}

// sumsOf returns the statistics that a state holds. put writes statistics to a state.
func sumsOf(state State) statistics {
	return statistics{gram: state["data.gram"], y: state["data.y"], a: state["data.a"], at: state["data.at"]}
}

func (s statistics) put(state State) {
	state["data.gram"], state["data.y"] = s.gram, s.y
	if s.at != nil {
		state["data.at"] = s.at
	} else {
		state["data.a"] = s.a
	}
}

// perturbation returns Phi^T A z, [runs, n, N_theta].
func (p problem) perturbation(s statistics, z index.Set) *Node {
	switch {
	case s.picked:
		return Transpose(s.a, 1, 2)
	case s.at != nil && z.Every:
		return s.at
	}
	if arms := p.z.Moments().Blocks; arms > 0 {
		return hyper.PerParameter(arms, p.z.Width()).Mul(s.a, z.Dense())
	}
	return p.z.Dot(s.a, z, nil) // the rows of a stand for data
}

// residual returns e(z), the gradient of the loss with respect to theta at each index, [runs, n, N_theta]:
//
//	weight/sigma_w^2 (Phi^T Phi theta(z) - Phi^T y - sigma_w Phi^T A z) + (g_nu(z) - g_nu0(z))/sigma_p^2
//
// with theta(z) = g_nu(z) + D B z and weight = |D|/|D~|.
func (p problem) residual(s statistics, at hyper.Params, z index.Set, weight *Node, r Rates) *Node {
	trained := p.Parametric.Trained(at.Nu, z)
	fit := Sub(gramMul(p.Linear, s.gram, p.Parametric.Complete(trained, at, z)), InsertAxes(s.y, 1))
	fit = Sub(fit, Mul(InsertAxes(r.Perturbation, -1, -1), p.perturbation(s, z)))
	return Add(Mul(InsertAxes(Div(weight, r.NoiseVar), -1, -1), fit), p.pull(trained, at, z, r))
}

// pull returns the gradient of the anchor with respect to theta = g_nu(z), [runs, n, N_theta].
func (p problem) pull(trained *Node, at hyper.Params, z index.Set, r Rates) *Node {
	return Div(Sub(trained, p.Parametric.Trained(at.Nu0, z)), InsertAxes(r.PriorVar, -1, -1))
}

// gramMul returns Phi^T Phi theta for theta [runs, n, N_theta].
func gramMul(b hyper.LinearBase, gram, theta *Node) *Node {
	if b.Diagonal() { // XLA would not remove the transpositions
		return Mul(InsertAxes(gram, 1), theta)
	}
	return Transpose(b.GramMul(gram, Transpose(theta, 1, 2)), 1, 2)
}

// affine returns the h [runs, N_theta] and the entries of G within the layout that give the residual e(z) = h + G z. It
// needs an affine belief whose prior has the layout of C. exact is false if G has entries outside the layout: they
// change e(z), but not the expected gradient.
func (p problem) affine(s statistics, at hyper.Params, weight *Node, r Rates) (h, g *Node, exact bool) {
	l, b := p.Affine.Structure(), p.Linear
	mu, c := p.coefficients(at)
	data := InsertAxes(Div(weight, r.NoiseVar), -1)
	prior := InsertAxes(r.PriorVar, -1)
	pull := Squeeze(b.GramMul(s.gram, InsertAxes(mu, -1)), 2)
	h = Add(Mul(data, Sub(pull, s.y)), Div(Sub(at.Nu[0], at.Nu0[0]), prior))

	noise, whole := p.noise(s, l)
	var spread *Node
	if len(l.Sizes) == 1 || b.Diagonal() {
		spread, exact = b.GramMul(s.gram, c), whole
	} else {
		spread = l.Restrict(b.GramMul(s.gram, l.Expand(c)))
	}
	fit := Sub(spread, Mul(InsertAxes(r.Perturbation, -1, -1), noise))
	g = Add(Mul(InsertAxes(data, -1), fit), Div(Sub(at.Nu[1], at.Nu0[1]), InsertAxes(prior, -1)))
	return h, g, exact
}

// noise returns the entries of Phi^T A within the layout, [runs, N_theta, Width]. whole says that there are no other
// entries.
func (p problem) noise(s statistics, l hyper.Layout) (a *Node, whole bool) {
	dense := len(l.Sizes) == 1
	if arms := p.z.Moments().Blocks; arms > 0 {
		blocks := hyper.PerParameter(arms, p.z.Width())
		if l.Equal(blocks) {
			return s.a, true
		}
		return l.Restrict(blocks.Expand(s.a)), dense
	}
	if dense {
		return s.a, true
	}
	return l.Restrict(s.a), false
}

// gradientAt returns the gradient of the loss at the indices z. weight is |D|/|D~|, [runs].
func (p problem) gradientAt(s statistics, at hyper.Params, z index.Set, weight *Node, r Rates) []*Node {
	if p.Affine != nil && !s.picked && p.sharesLayout() {
		if h, g, exact := p.affine(s, at, weight, r); exact { // one pass over z instead of five
			return p.pullback(at.Nu, z, Add(InsertAxes(h, 1), p.Affine.Structure().Mul(g, z.Dense())))
		}
	}
	return p.pullback(at.Nu, z, p.residual(s, at, z, weight, r))
}

// exactGradient returns the gradient of the loss with the expectation over z in closed form.
//
// For one-hot z the gradient is the mean over all particles. For g_nu(z) = mu + C z the residual is affine, e(z) = h +
// G z. Every other distribution here has E z = 0 and E z z^T = s I. The gradient is therefore h for mu and s G for C,
// within C's layout.
func (p problem) exactGradient(s statistics, at hyper.Params, weight *Node, r Rates) []*Node {
	if p.oneHot() {
		return p.gradientAt(s, at, p.every(weight.Graph(), weight.Shape().Dim(0)), weight, r)
	}
	h, g, _ := p.affine(s, at, weight, r)
	return []*Node{h, MulScalar(g, p.z.Moments().Second)}
}

// pullback returns the mean over the indices of the gradient of <e(z), g_nu(z)> with respect to nu, for e [runs, n,
// N_theta].
func (p problem) pullback(nu []*Node, z index.Set, e *Node) []*Node {
	switch {
	case p.Affine != nil:
		return []*Node{ReduceMean(e, 1), p.Affine.Structure().Outer(e, z.Dense())}
	case p.Particles != nil && z.Every:
		return []*Node{MulScalar(e, 1/float64(z.Len()))}
	}
	return p.chain(nu, z, e)
}

// chain is pullback by automatic differentiation of g_nu, for any g_nu.
func (p problem) chain(nu []*Node, z index.Set, e *Node) []*Node {
	e = MulScalar(StopGradient(e), 1/float64(z.Len()))
	return Gradient(ReduceAllSum(Mul(p.Parametric.Trained(nu, z), e)), nu...)
}
