package testbed

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// LogLikelihood returns the log-likelihood of the classes of each batch by each of the functions with log-odds f [runs,
// indices, batches * distinct]: [runs, indices, batches].
func (d Drawn) LogLikelihood(f *Node) *Node {
	ones, zeros := InsertAxes(d.Ones, 1), InsertAxes(d.Zeros, 1)
	of := ones.Shape().Dimensions // [runs, 1, batches, distinct]
	f = Reshape(f, of[0], f.Shape().Dim(1), of[2], of[3])
	small := Log1P(Exp(Neg(Abs(f))))
	no := Add(Mul(ones, Add(MaxScalar(Neg(f), 0), small)), Mul(zeros, Add(MaxScalar(f, 0), small)))
	return Neg(ReduceSum(no, 3))
}

// Uniform returns the log-likelihoods of the agent that gives both classes one half, [runs, batches]: a baseline.
func (d Drawn) Uniform() *Node { return MulScalar(ReduceSum(Add(d.Ones, d.Zeros), 2), -math.Ln2) }

// Mixture is the running logarithm of the mean of likelihoods over the indices: of what an agent says that draws an
// index and predicts all classes of a batch by its function. It is made of chunks of indices, whose predictions need
// not be in memory together; how they are cut does not matter.
type Mixture struct {
	Top, Sum *Node // the largest log-likelihood yet, and the sum of likelihoods over exp(Top); [runs, batches] each
	Weight   *Node // the sum of the indices' weights, [runs]
}

// lowest is the Top of nothing, finite so that differences of it are numbers.
const lowest = -math.MaxFloat32

// NewMixture is that of no index yet.
func NewMixture(g *Graph, runs, batches int) Mixture {
	sum := Zeros(g, shapes.Make(dtypes.Float32, runs, batches))
	return Mixture{Top: AddScalar(sum, lowest), Sum: sum, Weight: Zeros(g, shapes.Make(dtypes.Float32, runs))}
}

// Accumulate adds the log-likelihoods of a chunk of indices, [runs, indices, batches]. Weights [runs, indices] count
// an index more than once, or not at all: of an ensemble each particle is evaluated once, however often it was drawn.
// nil is once each.
func (m Mixture) Accumulate(ll, weights *Node) Mixture {
	if weights == nil {
		weights = Ones(ll.Graph(), shapes.Make(ll.DType(), ll.Shape().Dim(0), ll.Shape().Dim(1)))
	}
	w := BroadcastToShape(InsertAxes(weights, -1), ll.Shape())
	ll = Where(GreaterThan(w, ZerosLike(w)), ll, AddScalar(ZerosLike(ll), lowest))
	top := Max(m.Top, ReduceMax(ll, 1))
	sum := ReduceSum(Mul(w, Exp(Sub(ll, InsertAxes(top, 1)))), 1)
	return Mixture{
		Top: top, Sum: Add(Mul(m.Sum, Exp(Sub(m.Top, top))), sum), Weight: Add(m.Weight, ReduceSum(weights, 1)),
	}
}

// Mean returns the logarithm of the mean likelihood of each batch, [runs, batches].
func (m Mixture) Mean() *Node { return Add(m.Top, Log(Div(m.Sum, InsertAxes(m.Weight, -1)))) }

// Divergence returns how far an agent is from the truth, [runs], by its log-likelihoods of the batches [runs, batches]:
// the mean over batches of the truth's log-likelihood less the agent's, in nats. It estimates the Kullback-Leibler
// divergence of the truth from what the agent says of tau classes together. The truth is known to nobody: an agent that
// knows all but the future has a positive one. se is its standard error over the batches, NaN for a single one.
//
// The same indices serve all batches, as in the testbed, so that batches share what the choice of indices errs; the
// standard error leaves that out. A prediction that is not finite makes the divergence so.
func (d Drawn) Divergence(ll *Node) (mean, se *Node) {
	return meanOf(d.less(ll))
}

// less is the truth's log-likelihood of each batch less the agent's, [runs, batches].
func (d Drawn) less(ll *Node) *Node {
	return Sub(Squeeze(d.LogLikelihood(InsertAxes(d.Truth, 1)), 1), ll)
}

// meanOf returns means over the second axis, with their standard errors.
func meanOf(x *Node) (mean, se *Node) {
	n := x.Shape().Dim(1)
	mean = ReduceMean(x, 1)
	square := ReduceSum(Square(Sub(x, InsertAxes(mean, -1))), 1)
	return mean, Sqrt(Div(square, Const(x.Graph(), float32(n*(n-1))))) // 0/0 of one batch
}
