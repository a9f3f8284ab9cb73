package train

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/enum"
)

// Regularizer is the part of the loss that does not depend on the data.
type Regularizer int

// The regularizers.
const (
	// Anchor is the paper's regularizer, 1/(2 sigma_p^2) E_z ||g_nu(z) - g_nu0(z)||^2 (section 2.1). For a belief
	// without parameters theta = g_nu(z) it is 1/(2 sigma_p^2) ||nu - nu0||^2.
	Anchor Regularizer = iota + 1
	// KL is the regularizer of Bayes by Backprop (appendix D): the divergence of a variational belief's distribution of
	// theta from N(0, sigma_p^2 I), times the strength Rates.KL. The variational bound has the strength 1.
	KL
	// Decay is weight decay as in the Neural Testbed (Osband et al. 2022), 1/(2 sigma_p^2) ||nu||^2 over all trained
	// parameters, which include biases and every particle. It pulls to zero and not to nu_0, so that training forgets
	// the start. It does not include a prior's fixed networks. The testbed adds scale * ||nu||^2 to a mean loss over
	// |D| data; this is sigma_p^2 = sigma_w^2 / (2 |D| scale) here.
	Decay
)

func (r Regularizer) String() string { return enum.Word(r, "anchor", "kl", "decay") }

// regularizer returns the part of the loss that does not depend on the data, [runs].
func (p problem) regularizer(at hyper.Params, z index.Set, r Rates) *Node {
	switch {
	case p.Regularize == KL:
		return p.divergence(at, r)
	case p.Regularize == Decay:
		return Div(distance(at.Nu, nil), MulScalar(r.PriorVar, 2))
	case p.Parametric == nil:
		return Div(distance(at.Nu, at.Nu0), MulScalar(r.PriorVar, 2))
	}
	moved := Sub(p.Parametric.Trained(at.Nu, z), StopGradient(p.Parametric.Trained(at.Nu0, z)))
	return Div(ReduceMean(ReduceSum(Square(moved), 2), 1), MulScalar(r.PriorVar, 2))
}

// distance returns ||nu - from||^2, [runs]. A nil from stands for 0.
func distance(nu, from []*Node) *Node {
	var sum *Node
	for i, moved := range nu {
		if from != nil {
			moved = Sub(moved, from[i])
		}
		runs := moved.Shape().Dim(0)
		d := ReduceSum(Reshape(Square(moved), runs, moved.Shape().Size()/runs), 1)
		if sum == nil {
			sum = d
		} else {
			sum = Add(sum, d)
		}
	}
	return sum
}

// divergence returns the regularizer KL, [runs].
func (p problem) divergence(at hyper.Params, r Rates) *Node {
	kl := divergence(p.Variational, at.Nu, r.PriorVar)
	if r.KL != nil {
		kl = Mul(kl, r.KL)
	}
	return kl
}

// divergence returns KL(N(mu, diag sd^2) || N(0, sigma_p^2 I)) for the distribution of theta, [runs], with sigma_p^2
// [runs]: the sum over the components of log(sigma_p / sd) + (sd^2 + mu^2) / (2 sigma_p^2) - 1/2.
func divergence(b hyper.Variational, nu []*Node, priorVar *Node) *Node {
	mu, sd := b.Gaussian(nu)
	v := InsertAxes(priorVar, -1)
	spread := Sub(MulScalar(Log(v), 0.5), Log(sd))
	return ReduceSum(AddScalar(Add(spread, Div(Add(Square(sd), Square(mu)), MulScalar(v, 2))), -0.5), 1)
}
