package testbed

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"

	"github.com/hypermodels/hypermodels/hyper/rng"
)

// planes is the number of affine functions, which make 2^planes cells. The testbed has 7, too.
const planes = 7

const (
	mostProbit       = 5
	leastProbability = 2.866516e-7 // the probability that a standard normal number is below -5
)

// projection estimates an agent's log-likelihood of many classes, such as 100, for each batch, [runs, batches]. So many
// classes make hardly any of K sampled functions likely, and the logarithm of the mean over functions, meanLikelihood,
// depends on the likeliest function alone.
//
// For each function, projection takes the probits of the probabilities of both classes at the tau inputs, clipped at
// +-5. It sorts these K vectors into cells by the signs of a few random affine functions, and treats the classes as
// independent within a cell. The log-likelihood is the logarithm of a sum over cells: the share of functions in the
// cell, times the product of the mean probabilities of the classes. The method is RandomProjection of the Neural
// Testbed (likelihood/classification_projection.py), whose tests allow an error of 25% of the log-likelihood at tau =
// 10. The estimate is biased: if functions that disagree share a cell, the agreement of each function with itself is
// lost.
//
// Unlike in the testbed, the affine functions are drawn anew for each batch.
//
// f [runs, indices, batches * distinct] has the log odds of all functions of an agent. Weights [runs, indices] say how
// often each function counts; nil counts each once. The memory is indices * 2^planes numbers for each batch.
func projection(s rng.Stream, d drawnTests, f, weights *Node) *Node {
	of := d.Ones.Shape().Dimensions
	f = Transpose(Reshape(f, of[0], f.Shape().Dim(1), of[1], of[2]), 1, 2) // [runs, batches, indices, distinct]
	cell := cells(s, d, f)
	if weights != nil {
		cell = Mul(cell, InsertAxes(weights, 1, -1))
	}
	n := ReduceSum(cell, 2) // [runs, batches, cells]
	logMean := func(f *Node) *Node {
		sums := Einsum("rbkc,rbkd->rbcd", cell, clipped(Sigmoid(f)))
		return Log(Div(sums, MaxScalar(InsertAxes(n, -1), 1))) // log of 0 for an empty cell, which cellMean ignores
	}
	ll := ReduceSum(Add(Mul(InsertAxes(d.Ones, 2), logMean(f)), Mul(InsertAxes(d.Zeros, 2), logMean(Neg(f)))), 3)
	return cellMean(ll, n)
}

// cells returns the cell of each function as a one-hot vector, [runs, batches, indices, cells]. The probits of the two
// classes at an input are q and -q. n classes at the input have 2n independent standard normal coefficients, which are
// equivalent to one coefficient of q with variance 2n.
func cells(s rng.Stream, d drawnTests, f *Node) *Node {
	batches, distinct := d.Ones.Shape().Dim(1), d.Ones.Shape().Dim(2)
	sd := Sqrt(MulScalar(Add(d.Ones, d.Zeros), 2))
	normals := Mul(s.Named("normals").Normal(batches, planes, distinct), InsertAxes(sd, 2))
	side := Add(Einsum("rbkd,rbpd->rbkp", probit(f), normals), InsertAxes(s.Named("offsets").Normal(batches, planes), 2))
	number, zero := Const(f.Graph(), int32(0)), ScalarZero(f.Graph(), side.DType())
	for i := range planes {
		bit := GreaterThan(Slice(side, AxisRange(), AxisRange(), AxisRange(), AxisElem(i)), zero)
		number = Add(number, MulScalar(ConvertDType(Squeeze(bit, 3), dtypes.Int32), int32(1)<<i))
	}
	return OneHot(number, 1<<planes, dtypes.Float32)
}

// probit returns the quantile of the standard normal distribution at the probability with log odds f, clipped.
func probit(f *Node) *Node {
	x := ClipScalar(Tanh(MulScalar(f, 0.5)), 2*leastProbability-1, 1-2*leastProbability)
	return ClipScalar(MulScalar(rng.ErfInv(x), math.Sqrt2), -mostProbit, mostProbit)
}

// clipped limits a probability so that its probit is at most 5 in absolute value.
func clipped(p *Node) *Node { return ClipScalar(p, leastProbability, 1-leastProbability) }

// cellMean returns the logarithm of the mean over functions of the likelihoods of their cells, [runs, batches]. ll and
// n are the cells' log-likelihoods and numbers of functions, [runs, batches, cells].
func cellMean(ll, n *Node) *Node {
	ll = Where(GreaterThan(n, ZerosLike(n)), ll, AddScalar(ZerosLike(ll), lowest))
	top := ReduceAndKeep(ll, ReduceMax, 2)
	mean := Div(ReduceSum(Mul(n, Exp(Sub(ll, top))), 2), ReduceSum(n, 2))
	return Add(Squeeze(top, 2), Log(mean))
}
