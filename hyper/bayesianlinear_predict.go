package hyper

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
	"github.com/hypermodels/hypermodels/hyper/internal/span"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

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
