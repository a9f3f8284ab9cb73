package hyper

import (
	"errors"
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
	"github.com/hypermodels/hypermodels/hyper/internal/span"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// BayesianLinear is Bayesian linear regression, f(x) = phi(x)^T theta, under the prior N(0, sigma_p^2 I) and Gaussian
// noise. The posterior N(mu, sigma_p^2 Q) is updated exactly with each datum. With z ~ N(0, I),
//
//	theta = mu + sigma_p S z,   S S^T = Q
//
// phi(x) is x with an intercept and, if Waves is positive, random cosines of x (Rahimi and Recht 2007). The cosines
// make f nonlinear; f approaches a Gaussian process as Waves grows. For an x of d numbers
//
//	phi(x) = (sqrt(2/Waves) cos(w_j^T x + b_j), c x / sqrt(d), c),   w_j ~ N(0, I / (d Length^2)),   b_j ~ U(0, 2 pi)
//
// with c = 0.3. Without cosines phi(x) = (x, 1) / sqrt(d + 1). Features should have a mean of about 0 and a variance of
// about 1. Plain sets phi(x) = x, for linear bandits.
//
// With Blocks an input consists of Blocks blocks of d numbers, and only the numbers of one block may differ from 0. If
// Numbered is set, an input is instead the number of a block, followed by d numbers. Each block has its own part of
// theta: the blocks are disjoint models, one for each action, of a context (Li et al. 2010). An input of zeros belongs
// to the first block.
//
// nu is (mu [runs, N_theta], S [runs, Blocks, size, size]), where size is the number of parameters in a block. Only
// train.Exact can train this belief.
//
// With Line there is a second regression, on (x, 1) alone, in addition to the regression with cosines. Random cosines
// of many features need many data to find a line, and a line can find nothing else. The data give each regression a
// probability; Share is the probability of the line. f is Gaussian, with the mean and the covariances of this mixture:
//
//	f = (1 - Share) f_c + Share f_l,   var f = (1 - Share) var f_c + Share var f_l + Share (1 - Share) (f_l - f_c)^2
//
// where f_c and f_l in the last term are means. Functions of two blocks remain independent. In each block of theta the
// parameters of the line follow the parameters of the cosines, and nu is (mu, S, S of the line, Share [runs]).
type BayesianLinear struct {
	Features int     // number of features of an input
	Blocks   int     // number of blocks; 0 means 1
	Numbered bool    // an input is the number of its block, followed by d numbers
	Waves    int     `help:"random cosines of an action's features; 0 is none, a linear function"`
	Length   float64 `help:"length scale of the cosines, times the root of the number of features"`
	Plain    bool    // phi(x) is x itself: f has no intercept, and x is not scaled
	Line     bool    // adds a regression on (x, 1) with its own posterior
}

var (
	_ Sized      = BayesianLinear{}
	_ Capable    = BayesianLinear{}
	_ Conjugate  = BayesianLinear{}
	_ Predictive = BayesianLinear{}
)

// linearShare is c. For features of variance 1 the linear part and the intercept each have a prior variance of c^2, and
// the cosines have 1.
const linearShare = 0.3

// ForInputs returns the belief for inputs of the given number of features.
func (b BayesianLinear) ForInputs(features int) Belief {
	b.Features = features
	return b
}

// Validate reports every invalid field.
func (b BayesianLinear) Validate() error {
	errs := []error{faults.AtLeast("Features", b.Features, 1), faults.AtLeast("Blocks", b.Blocks, 0),
		faults.AtLeast("Waves", b.Waves, 0)}
	if b.Waves > 0 {
		errs = append(errs, faults.Positive("Length", b.Length))
	}
	if b.Plain && b.Waves > 0 {
		errs = append(errs, fmt.Errorf("Waves must be 0 with Plain, got %d", b.Waves))
	}
	if b.Line && b.Waves < 1 {
		errs = append(errs, fmt.Errorf("Waves must be 1 at least with Line, got %d: without cosines there is the line alone",
			b.Waves))
	}
	if b.Numbered && b.Features < 2 {
		errs = append(errs, fmt.Errorf("Features must be the number of a block and its numbers, got %d", b.Features))
	}
	if !b.Numbered && b.Features%b.blocks() != 0 {
		errs = append(errs, fmt.Errorf("Features must be Blocks times the numbers of a block, got %d for %d",
			b.Features, b.Blocks))
	}
	if errors.Join(errs...) == nil {
		errs = append(errs, faults.Size("Blocks x size x size", b.blocks(), b.whole(), b.whole()),
			faults.Size("Waves x features", b.Waves, b.width()))
	}
	return faults.Prefix("hyper.BayesianLinear: ", errors.Join(errs...))
}

func (b BayesianLinear) blocks() int { return max(b.Blocks, 1) }

// size returns the number of parameters in a block, without the parameters of the line.
func (b BayesianLinear) size() int {
	if b.Plain {
		return b.width()
	}
	return b.Waves + b.width() + 1
}

// Parts returns the number of parameters in a block, without the line, and with Line the number of parameters of the
// line.
func (b BayesianLinear) Parts() []int {
	if b.Line {
		return []int{b.size(), b.width() + 1}
	}
	return []int{b.size()}
}

// whole returns the number of all parameters in a block.
func (b BayesianLinear) whole() int {
	if b.Line {
		return b.size() + b.width() + 1
	}
	return b.size()
}

// deviations returns the number of normal numbers from which the deviations of a block's functions from their mean are
// computed: one for each parameter and, with Line, one more for the difference of the two means.
func (b BayesianLinear) deviations() int {
	if b.Line {
		return b.whole() + 1
	}
	return b.size()
}

// width returns d.
func (b BayesianLinear) width() int {
	if b.Numbered {
		return b.Features - 1
	}
	return b.Features / b.blocks()
}

func (b BayesianLinear) Index() index.Distribution {
	return index.Gaussian{N: b.blocks() * b.deviations()}
}
func (b BayesianLinear) Inputs() int { return b.Features }

// NumTheta returns N_theta.
func (b BayesianLinear) NumTheta() int { return b.blocks() * b.whole() }

// NumInvolved returns the number of numbers in nu of one run.
func (b BayesianLinear) NumInvolved() int {
	n := b.NumTheta()
	for _, part := range b.Parts() {
		n += b.blocks() * part * part
	}
	if b.Line {
		n++
	}
	return n
}

// UnitVariance returns the sigma_p^2 for which predictions before any data have variance 1 over standardised inputs.
func (b BayesianLinear) UnitVariance() float64 {
	if b.Plain {
		return 1 / float64(b.width())
	}
	if b.Waves == 0 {
		return 1
	}
	return 1 / (1 + 2*linearShare*linearShare)
}

// Init draws the cosines, and sets the posterior to the prior. scale is sigma_p, [runs]; nil means 1.
func (b BayesianLinear) Init(s rng.Stream, scale *Node) Params {
	g, runs := s.Graph(), s.Runs()
	nu := []*Node{Zeros(g, shapes.Make(dtypes.Float32, runs, b.NumTheta()))}
	for _, n := range b.Parts() {
		at := func(axis int) *Node { return Iota(g, shapes.Make(dtypes.Int32, runs, b.blocks(), n, n), axis) }
		nu = append(nu, ConvertDType(Equal(at(2), at(3)), dtypes.Float32))
	}
	if b.Line {
		nu = append(nu, MulScalar(Ones(g, shapes.Make(dtypes.Float32, runs)), 0.5))
	}
	if scale == nil {
		scale = Ones(g, shapes.Make(dtypes.Float32, runs))
	}
	fixed := map[string]*Node{"scale": scale}
	if b.Waves > 0 {
		w := s.Named("waves").Normal(b.width(), b.Waves)
		fixed["waves"] = MulScalar(w, 1/(b.Length*math.Sqrt(float64(b.width()))))
		fixed["phases"] = MulScalar(s.Named("phases").Uniform(b.Waves), 2*math.Pi)
	}
	return Params{Nu: nu, Nu0: nu, Fixed: fixed}
}

// Phi returns phi(x) within the block of each input, [runs, inputs, size], and the index of each input's block, int32
// [runs, inputs]. With Line the features of the line follow, and the last axis has the length of both parts.
func (b BayesianLinear) Phi(p Params, x *Node) (phi, block *Node) {
	d := b.width()
	x, block = b.blockOf(x)
	if b.Plain {
		return x, block
	}
	one := OnesLike(Slice(x, AxisRange(), AxisRange(), AxisRange(0, 1)))
	if b.Waves == 0 {
		return MulScalar(Concatenate([]*Node{x, one}, 2), 1/math.Sqrt(float64(d+1))), block
	}
	angle := Add(Einsum("rid,rdw->riw", x, p.Fixed["waves"]), InsertAxes(p.Fixed["phases"], 1))
	all := []*Node{
		MulScalar(Cos(angle), math.Sqrt(2/float64(b.Waves))),
		MulScalar(x, linearShare/math.Sqrt(float64(d))),
		MulScalar(one, linearShare)}
	if b.Line {
		all = append(all, MulScalar(x, b.lineScale()), MulScalar(one, b.lineScale()))
	}
	return Concatenate(all, 2), block
}

// lineScale returns the factor of (x, 1) with which the line predicts, before any data, with the same variance as the
// cosines.
func (b BayesianLinear) lineScale() float64 {
	return 1 / math.Sqrt(b.UnitVariance()*float64(b.width()+1))
}

// blockOf returns the d numbers of each input, [runs, inputs, d], and the index of each input's block, int32
// [runs, inputs].
func (b BayesianLinear) blockOf(x *Node) (numbers, block *Node) {
	runs, inputs, d := x.Shape().Dim(0), x.Shape().Dim(1), b.width()
	if b.Numbered {
		number := Squeeze(Slice(x, AxisRange(), AxisRange(), AxisRange(0, 1)), 2)
		return Slice(x, AxisRange(), AxisRange(), AxisRange(1)), ConvertDType(number, dtypes.Int32)
	}
	x = Reshape(x, runs, inputs, b.blocks(), d)
	return ReduceSum(x, 2), ArgMax(ReduceMax(Abs(x), 3), 2, dtypes.Int32)
}

// Predict returns phi(x)^T (mu + sigma_p S z), [runs, indices, inputs].
func (b BayesianLinear) Predict(p Params, z index.Set, x *Node) *Node {
	phi, block := b.Phi(p, x)
	theta := b.theta(p, z.Dense())
	if b.blocks() == 1 {
		return Einsum("rip,rnp->rni", phi, Squeeze(theta, 2))
	}
	each := Mul(InsertAxes(phi, 2), InsertAxes(OneHot(block, b.blocks(), dtypes.Float32), -1))
	return Einsum("rikp,rnkp->rni", each, theta)
}

// theta returns the parameters of the functions with vectors z [runs, n, blocks * deviations],
// [runs, n, blocks, whole].
func (b BayesianLinear) theta(p Params, vectors *Node) *Node {
	runs, n := vectors.Shape().Dim(0), vectors.Shape().Dim(1)
	vectors = Reshape(vectors, runs, n, b.blocks(), b.deviations())
	mean := Reshape(narrow(p.Nu[0]), runs, 1, b.blocks(), b.whole())
	scale := InsertAxes(p.Fixed["scale"], -1, -1, -1)
	if !b.Line {
		theta := Einsum("rkpq,rnkq->rnkp", narrow(p.Nu[1]), vectors)
		return Add(Mul(theta, scale), mean)
	}
	share := InsertAxes(narrow(p.Nu[3]), -1, -1, -1)
	var out []*Node
	for j, of := range b.spans() {
		weight, sign := OneMinus(share), -1.0
		if j == 1 {
			weight, sign = share, 1
		}
		own := of.In(mean)
		deviation := Mul(Einsum("rkpq,rnkq->rnkp", narrow(p.Nu[1+j]), of.In(vectors)), Mul(scale, Sqrt(weight)))
		apart := Mul(Mul(own, b.between(p)), Slice(vectors, AxisRange(), AxisRange(), AxisRange(), AxisRange(b.whole())))
		out = append(out, Add(Add(deviation, MulScalar(apart, sign)), Mul(own, weight)))
	}
	return Concatenate(out, 3)
}

// between returns the factor of the difference between the mean of the line and the mean of the cosines,
// [runs, 1, 1, 1]: sqrt(Share (1 - Share)), or 0 if sigma_p is 0 and functions therefore do not deviate from their
// mean.
func (b BayesianLinear) between(p Params) *Node {
	share := narrow(p.Nu[3])
	return InsertAxes(Mul(Sqrt(Mul(share, OneMinus(share))), Sign(p.Fixed["scale"])), -1, -1, -1)
}

func (b BayesianLinear) spans() []span.Span { return span.Of(b.Parts()) }

// Draw returns the values of n functions at inputs x, [runs, n, inputs]. For blocks with few inputs it draws from the
// joint distribution of the values, which takes one normal number for each input, not one for each parameter. A Plain
// belief with one block may have many inputs; Draw then draws functions.
func (b BayesianLinear) Draw(p Params, s rng.Stream, n int, x *Node) *Node {
	if b.Plain && b.blocks() == 1 {
		return b.Predict(p, b.Index().Sample(s, n), x)
	}
	phi, block := b.Phi(p, x)
	mean, root := b.moments(p, phi, block)
	runs, inputs := mean.Shape().Dim(0), mean.Shape().Dim(1)
	var off *Node
	switch {
	case b.blocks() == 1:
		off = Einsum("rnq,riq->rni", s.Normal(n, b.deviations()), root)
	case inputs > mostJoint:
		size := b.deviations()
		z := row.Take(Reshape(s.Normal(b.blocks(), n*size), runs, b.blocks(), n*size), block)
		off = Einsum("rinq,riq->rni", Reshape(z, runs, inputs, n, size), root)
	default:
		same := Equal(InsertAxes(block, -1), InsertAxes(block, 1)) // functions of two blocks are independent
		covariance := Einsum("riq,rjq->rij", root, root)
		covariance = Where(same, covariance, ZerosLike(covariance))
		off = Einsum("rnk,rik->rni", s.Normal(n, inputs), cholesky(covariance))
	}
	return Add(InsertAxes(mean, 1), off)
}

// mostJoint is the largest number of inputs in blocks whose values Draw draws from their joint distribution.
const mostJoint = 256

// moments returns the means of f at inputs with the given phi and blocks, [runs, inputs], and a root R of the
// covariances, [runs, inputs, deviations]. Within a block the covariance of inputs i and j is the product of rows i and
// j of R. R is sigma_p S^T phi(x), and with Line it has more columns.
func (b BayesianLinear) moments(p Params, phi, block *Node) (mean, root *Node) {
	scale := InsertAxes(p.Fixed["scale"], -1, -1)
	if !b.Line {
		mean, root = b.momentsOf(p.Nu[0], p.Nu[1], phi, block)
		return mean, Mul(root, scale)
	}
	runs := phi.Shape().Dim(0)
	mu := Reshape(p.Nu[0], runs, b.blocks(), b.whole())
	var means, roots []*Node
	for j, of := range b.spans() {
		own := Reshape(of.In(mu), runs, b.blocks()*of.Size())
		m, s := b.momentsOf(own, p.Nu[1+j], of.In(phi), block)
		means, roots = append(means, m), append(roots, s)
	}
	share := InsertAxes(narrow(p.Nu[3]), -1)
	mean = Add(Mul(means[0], OneMinus(share)), Mul(means[1], share))
	share = InsertAxes(share, -1)
	return mean, Concatenate([]*Node{
		Mul(roots[0], Mul(scale, Sqrt(OneMinus(share)))),
		Mul(roots[1], Mul(scale, Sqrt(share))),
		Mul(InsertAxes(Sub(means[1], means[0]), -1), Squeeze(b.between(p), 3))}, 2)
}

// momentsOf returns phi(x)^T mu and S^T phi(x) of one part.
func (b BayesianLinear) momentsOf(mu, s, phi, block *Node) (mean, root *Node) {
	runs, inputs, n := phi.Shape().Dim(0), phi.Shape().Dim(1), phi.Shape().Dim(2)
	if b.blocks() == 1 {
		return Einsum("rip,rp->ri", phi, narrow(mu)), Einsum("rip,rpq->riq", phi, narrow(Squeeze(s, 1)))
	}
	mean = ReduceSum(Mul(phi, narrow(row.Take(Reshape(mu, runs, b.blocks(), n), block))), 2)
	own := Reshape(row.Take(Reshape(s, runs, b.blocks(), n*n), block), runs, inputs, n, n)
	return mean, Einsum("rip,ripq->riq", phi, narrow(own))
}

func narrow(x *Node) *Node { return ConvertDType(x, dtypes.Float32) }

// cholesky returns the lower triangular roots of positive semidefinite matrices, [runs, n, n]. A column is 0 if
// rounding leaves nothing of its pivot.
func cholesky(m *Node) *Node {
	n, columns := m.Shape().Dim(1), []*Node{}
	if n > mostColumns {
		return choleskyLoop(m)
	}
	row := Iota(m.Graph(), shapes.Make(dtypes.Int32, 1, n), 1)
	for j := range n {
		at := func(x *Node) *Node { return Slice(x, AxisRange(), AxisRange(j, j+1)) }
		c := Squeeze(Slice(m, AxisRange(), AxisRange(), AxisRange(j, j+1)), 2)
		whole := at(c)
		for _, before := range columns {
			c = Sub(c, Mul(before, at(before)))
		}
		left := at(c)
		some := GreaterThan(left, MulScalar(whole, 1e-6))
		inverse := Where(some, Rsqrt(Where(some, left, OnesLike(left))), ZerosLike(left))
		below := GreaterOrEqual(row, Const(m.Graph(), int32(j)))
		c = Mul(c, inverse)
		columns = append(columns, Where(BroadcastToShape(below, c.Shape()), c, ZerosLike(c)))
	}
	return Stack(columns, 2)
}

// mostColumns is the largest number of columns that cholesky builds one after the other. The number of nodes grows with
// the square of the number of columns.
const mostColumns = 32

// choleskyLoop computes the same as cholesky in a loop of the graph, one column in each round.
func choleskyLoop(m *Node) *Node {
	g, runs, n := m.Graph(), m.Shape().Dim(0), m.Shape().Dim(1)
	at := func(axis int) *Node { return Iota(g, shapes.Make(dtypes.Int32, runs, n, n), axis) }
	is := ConvertDType(Equal(at(1), at(2)), m.DType())
	below := ConvertDType(GreaterOrEqual(at(2), at(1)), m.DType())
	return loop.Repeat(n, []*Node{ZerosLike(m)}, []**Node{&m, &is, &below}, func(j loop.Index, factor []*Node) []*Node {
		own, whole := j.Rows(is, 1), j.Rows(m, 1) // [runs, 1, n]
		before := ReduceAndKeep(Mul(factor[0], j.Rows(factor[0], 1)), ReduceSum, 2)
		c := Sub(whole, TransposeAllAxes(before, 0, 2, 1))
		left := ReduceAndKeep(Mul(c, own), ReduceSum, 2)
		some := GreaterThan(left, MulScalar(ReduceAndKeep(Mul(whole, own), ReduceSum, 2), 1e-6))
		inverse := Where(some, Rsqrt(Where(some, left, OnesLike(left))), ZerosLike(left))
		c = Mul(Mul(c, inverse), j.Rows(below, 1))
		return []*Node{Add(factor[0], Mul(TransposeAllAxes(c, 0, 2, 1), own))}
	})[0]
}

// Capabilities returns the capabilities of the belief: Conjugate and Predictive.
func (b BayesianLinear) Capabilities() Capabilities { return Capabilities{Conjugate: b, Predictive: b} }
