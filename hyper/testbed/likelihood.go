package testbed

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// LogLikelihood returns the log-likelihood of the classes of each batch for each function, [runs, indices, batches].
// Its input f [runs, indices, batches * distinct] has the log odds of the functions.
func (d drawnTests) LogLikelihood(f *Node) *Node {
	ones, zeros := InsertAxes(d.Ones, 1), InsertAxes(d.Zeros, 1)
	of := ones.Shape().Dimensions // [runs, 1, batches, distinct]
	f = Reshape(f, of[0], f.Shape().Dim(1), of[2], of[3])
	small := Log1P(Exp(Neg(Abs(f))))
	no := Add(Mul(ones, Add(MaxScalar(Neg(f), 0), small)), Mul(zeros, Add(MaxScalar(f, 0), small)))
	return Neg(ReduceSum(no, 3))
}

// Uniform returns the log-likelihoods of the agent that gives both classes probability one half, [runs, batches]. The
// uniform agent is a baseline.
func (d drawnTests) Uniform() *Node { return MulScalar(ReduceSum(Add(d.Ones, d.Zeros), 2), -math.Ln2) }

// meanLikelihood is the logarithm of the mean likelihood over indices, as a running sum: the log-likelihood of an agent
// that draws one index and predicts all classes of a batch with the function of that index. Chunks of indices are added
// one after the other, so that their predictions need not be in memory together. The size of the chunks does not
// matter.
type meanLikelihood struct {
	Top, Sum *Node // the largest log-likelihood so far, and the sum of likelihoods over exp(Top); [runs, batches] each
	Weight   *Node // the sum of the indices' weights, [runs]
}

// lowest is the Top of an empty mixture. It is finite, so that differences of it are finite.
const lowest = -math.MaxFloat32

// newMeanLikelihood returns the mean over no indices.
func newMeanLikelihood(g *Graph, runs, batches int) meanLikelihood {
	sum := Zeros(g, shapes.Make(dtypes.Float32, runs, batches))
	return meanLikelihood{Top: AddScalar(sum, lowest), Sum: sum, Weight: Zeros(g, shapes.Make(dtypes.Float32, runs))}
}

// Accumulate adds the log-likelihoods of a chunk of indices, [runs, indices, batches]. Weights [runs, indices] say how
// often each index counts; 0 is not at all. An ensemble uses them: each particle is evaluated once, even if its index
// was drawn several times. nil counts each index once.
func (m meanLikelihood) Accumulate(ll, weights *Node) meanLikelihood {
	if weights == nil {
		weights = Ones(ll.Graph(), shapes.Make(ll.DType(), ll.Shape().Dim(0), ll.Shape().Dim(1)))
	}
	w := BroadcastToShape(InsertAxes(weights, -1), ll.Shape())
	ll = Where(GreaterThan(w, ZerosLike(w)), ll, AddScalar(ZerosLike(ll), lowest))
	top := Max(m.Top, ReduceMax(ll, 1))
	sum := ReduceSum(Mul(w, Exp(Sub(ll, InsertAxes(top, 1)))), 1)
	return meanLikelihood{
		Top: top, Sum: Add(Mul(m.Sum, Exp(Sub(m.Top, top))), sum), Weight: Add(m.Weight, ReduceSum(weights, 1)),
	}
}

// Mean returns the logarithm of the mean likelihood of each batch, [runs, batches].
func (m meanLikelihood) Mean() *Node { return Add(m.Top, Log(Div(m.Sum, InsertAxes(m.Weight, -1)))) }

// nodes returns the running sum by name. mixture is its inverse.
func (m meanLikelihood) nodes() named[*Node] {
	return named[*Node]{"mixture.top": m.Top, "mixture.sum": m.Sum, "mixture.weight": m.Weight}
}

func mixture(in named[*Node]) meanLikelihood {
	return meanLikelihood{Top: in["mixture.top"], Sum: in["mixture.sum"], Weight: in["mixture.weight"]}
}

// Divergence returns the distance of an agent from the truth, [runs], in nats: the mean over batches of the truth's
// log-likelihood minus the agent's. Its input ll [runs, batches] has the agent's log-likelihoods. The mean estimates
// the Kullback-Leibler divergence of the truth from the agent's joint prediction of tau classes. Even the best possible
// agent has a positive divergence, because the truth is unknown to it. se is the standard error over the batches, NaN
// for a single batch.
//
// All batches use the same indices, as in the testbed. Batches therefore share the error that comes from the choice of
// indices, and the standard error does not include it. If a prediction is not finite, the divergence is not finite.
func (d drawnTests) Divergence(ll *Node) (mean, se *Node) {
	return meanOf(d.less(ll))
}

// less returns the truth's log-likelihood of each batch minus the agent's, [runs, batches].
func (d drawnTests) less(ll *Node) *Node {
	return Sub(Squeeze(d.LogLikelihood(InsertAxes(d.Truth, 1)), 1), ll)
}

// meanOf returns means over the second axis, and their standard errors.
func meanOf(x *Node) (mean, se *Node) {
	n := x.Shape().Dim(1)
	mean = ReduceMean(x, 1)
	square := ReduceSum(Square(Sub(x, InsertAxes(mean, -1))), 1)
	return mean, Sqrt(Div(square, Const(x.Graph(), float32(n*(n-1))))) // 0/0 for a single batch
}
