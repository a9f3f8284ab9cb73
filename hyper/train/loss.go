package train

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
)

// Loss is the paper's L~(nu, D~, Z~) of section 2.1 for each run, [runs]:
//
//	1/|Z~| sum_z [ 1/(2 sigma_w^2) |D|/|D~| sum_(x,y,a) (y + sigma_w a^T z - f_{g_nu(z)}(x))^2
//	               + 1/(2 sigma_p^2) ||g_nu(z) - g_nu0(z)||^2 ]
//
// size is |D|, a float32 scalar; |D~| is the number of data in the batch.
func Loss(m hyper.Model, p hyper.Params, data Batch, z index.Set, size *Node, r Rates) *Node {
	return Add(fit(m, p, data, z, size, r), anchor(m, p, z, r))
}

// VariationalLoss is minus the evidence lower bound of Bayes by Backprop (appendix D; Blundell et al. 2015), up to a constant, for
// each run, [runs]: the first line of [Loss], and Rates.KL times [Divergence] instead of the second. The hypermodel must be
// a [hyper.MeanField].
func VariationalLoss(m hyper.Model, p hyper.Params, data Batch, z index.Set, size *Node, r Rates) *Node {
	return Add(fit(m, p, data, z, size, r), divergence(m, p, r))
}

// divergence is the regularizer KL, [runs].
func divergence(m hyper.Model, p hyper.Params, r Rates) *Node {
	kl := Divergence(m.Hyper.(hyper.MeanField), p.Nu, r.PriorVar)
	if r.KL != nil {
		kl = Mul(kl, r.KL)
	}
	return kl
}

// Divergence is KL(N(mu, diag sd^2) || N(0, sigma_p^2 I)) of the law that a mean-field hypermodel gives theta, [runs], for
// sigma_p^2 [runs]: the sum over the components of log(sigma_p / sd) + (sd^2 + mu^2) / (2 sigma_p^2) - 1/2.
func Divergence(h hyper.MeanField, nu []*Node, priorVar *Node) *Node {
	mu, sd := h.Gaussian(nu)
	v := InsertAxes(priorVar, -1)
	spread := Sub(MulScalar(Log(v), 0.5), Log(sd))
	return ReduceSum(AddScalar(Add(spread, Div(Add(Square(sd), Square(mu)), MulScalar(v, 2))), -0.5), 1)
}

// fit is the part of the loss that sees the data.
func fit(m hyper.Model, p hyper.Params, data Batch, z index.Set, size *Node, r Rates) *Node {
	misfit := ReduceSum(Square(Sub(perturbed(m, data, z, r.Perturbation), m.Predict(p, z, data.X))), 2) // [runs, indices]
	weight := MulScalar(size, 1/float64(data.Y.Shape().Dim(1)))
	return Mul(Div(Mul(weight, OnesLike(r.NoiseVar)), MulScalar(r.NoiseVar, 2)), ReduceMean(misfit, 1))
}

// anchor is the paper's regulariser, [runs].
func anchor(m hyper.Model, p hyper.Params, z index.Set, r Rates) *Node {
	moved := Sub(m.Hyper.Theta(p.Nu, z), StopGradient(m.Hyper.Theta(p.Nu0, z)))
	return Div(ReduceMean(ReduceSum(Square(moved), 2), 1), MulScalar(r.PriorVar, 2))
}

// SampledGradient is the gradient of [Loss] with respect to nu by automatic differentiation. It works for every model.
func SampledGradient(m hyper.Model, p hyper.Params, data Batch, z index.Set, size *Node, r Rates) []*Node {
	return Gradient(ReduceAllSum(Loss(m, p, data, z, size, r)), p.Nu...)
}
