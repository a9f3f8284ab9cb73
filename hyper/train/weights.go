package train

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Weights say how much each datum counts for each index: the bootstrap, beside or instead of the additive perturbations
// of section 2.1. A weight has mean 1. It is made from u = a^T z, which is N(0, 1): given the datum's a, or given z,
// see package index. So weights are independent from datum to datum where u is, and an ensemble's particles have
// independent ones.
type Weights int

// The weights.
const (
	Unweighted Weights = iota
	// Bernoulli doubles half of the data and leaves out the others: 2 if u > 0, and else 0.
	Bernoulli
	// Exponential is Exp(1): minus the logarithm of Phi(-u), the Bayesian bootstrap (Rubin 1981).
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

// ofData returns the weights of data for each index, [runs, indices, inputs]; nil is 1.
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

// weighted multiplies x by weights, where there are any.
func weighted(x, weights *Node) *Node {
	if weights == nil {
		return x
	}
	return Mul(x, weights)
}

// width is that of the perturbation vectors that the replay buffer holds; 0 is none.
func (p problem) width() int {
	if p.Unperturbed {
		return 0
	}
	return p.z.Width()
}

// vectors draws those of n data of each run from the stream, [runs, n, width]; nil where the buffer holds none.
func (p problem) vectors(s rng.Stream, n int) *Node {
	if p.Unperturbed {
		return nil
	}
	return p.z.Perturbation(s.Named("A"), n)
}

// perturbed are the responses y + sigma_w a^T z, [runs, indices, inputs], for standard deviations [runs].
func (p problem) perturbed(data Batch, z index.Set, noise *Node) *Node {
	if p.Unperturbed {
		runs, n := data.Y.Shape().Dim(0), data.Y.Shape().Dim(1)
		return BroadcastToDims(InsertAxes(data.Y, 1), runs, z.Len(), n)
	}
	return Add(InsertAxes(data.Y, 1), Mul(InsertAxes(noise, -1, -1), p.z.Dot(data.A, z, data.X)))
}
