package train

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Weights says how much each datum counts for each index: the bootstrap, in place of the additive perturbations of
// section 2.1. (Both together would bias the fit, because they use the same a^T z.) A weight has mean 1 and is computed
// from u = a^T z. u is N(0, 1) given the datum's a, or given z: see package index. Weights are independent from datum
// to datum if u is, and the particles of an ensemble have independent weights.
type Weights int

// The weights.
const (
	Unweighted Weights = iota
	// Bernoulli counts each datum twice or not at all, with probability 1/2 each: the weight is 2 if u > 0, and 0
	// otherwise.
	Bernoulli
	// Exponential gives weights with the distribution Exp(1), as minus the logarithm of Phi(-u): the Bayesian bootstrap
	// (Rubin 1981).
	Exponential
)

func (w Weights) String() string { return enum.Word(w, "bernoulli", "exponential") }

// of returns the weights for u.
func (w Weights) of(u *Node) *Node {
	if w == Bernoulli {
		return MulScalar(ConvertDType(GreaterThan(u, ZerosLike(u)), u.DType()), 2)
	}
	tail := MulScalar(OneMinus(Erf(MulScalar(u, 1/math.Sqrt2))), 0.5)
	return Neg(Log(MaxScalar(tail, 1e-7)))
}

// ofData returns the weights of the data for each index, [runs, indices, inputs]. nil stands for 1.
func (p problem) ofData(data Batch, z index.Set) *Node {
	var weights *Node
	if p.Weights != Unweighted {
		weights = p.Weights.of(p.z.Dot(data.A, z, data.X))
	}
	if data.W == nil {
		return weights
	}
	own := BroadcastToDims(InsertAxes(data.W, 1), data.W.Shape().Dim(0), z.Len(), data.W.Shape().Dim(1))
	return weighted(own, weights)
}

// weighted returns x times weights. nil stands for weights of 1.
func weighted(x, weights *Node) *Node {
	if weights == nil {
		return x
	}
	return Mul(x, weights)
}

// width returns the length of the perturbation vectors in the replay buffer, or 0 if the buffer holds none.
func (p problem) width() int {
	if p.Unperturbed {
		return 0
	}
	return p.z.Width()
}

// vectors draws the perturbation vectors of n data of each run from the stream, [runs, n, width]. It returns nil if the
// buffer holds none.
func (p problem) vectors(s rng.Stream, n int) *Node {
	if p.Unperturbed {
		return nil
	}
	return p.z.Perturbation(s.Named("A"), n)
}

// perturbed returns the responses y + sigma_w a^T z, [runs, indices, inputs]. noise holds the standard deviations,
// [runs].
func (p problem) perturbed(data Batch, z index.Set, noise *Node) *Node {
	if p.Unperturbed {
		runs, n := data.Y.Shape().Dim(0), data.Y.Shape().Dim(1)
		return BroadcastToDims(InsertAxes(data.Y, 1), runs, z.Len(), n)
	}
	return Add(InsertAxes(data.Y, 1), Mul(InsertAxes(noise, -1, -1), p.z.Dot(data.A, z, data.X)))
}
