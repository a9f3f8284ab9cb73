package layers

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/metric"
	"github.com/gomlx/gomlx/support/exceptions"

	"github.com/hypermodels/hypermodels/hyper/rng"
)

// MarginalNLL returns minus the log probability of each label under the mean over indices of the class probabilities,
// [batch], in nats. logits are [indices, batch, classes], and labels are integers, [batch] or [batch, 1]. Where a label
// is none of the classes 0 to classes-1, this and all other scores by labels are NaN.
func MarginalNLL(logits, labels *Node) *Node { return Neg(logMean(ofLabels(logits, labels))) }

// JointNLL returns the dyadic joint negative log-likelihood of Osband et al., "The Neural Testbed", 2022: minus the log
// probability of tau labels together, [batch], in nats. Entry i is for the pair of inputs i and i+1; the last input is
// paired with the first. Each of the tau inputs is one input of the pair, both equally likely, so that an index that
// fits one input must fit the same input again. The draws are the same in each call. The joint likelihood tests whether
// the spread over indices is uncertainty that more data would remove; the marginal likelihood cannot test this. Shapes
// and labels are as in [MarginalNLL].
func JointNLL(logits, labels *Node, tau int) *Node {
	if tau < 1 {
		exceptions.Panicf("layers.JointNLL: tau must be positive, got %d", tau)
	}
	first := ofLabels(logits, labels) // [indices, batch]
	g, batch := logits.Graph(), first.Shape().Dim(1)
	if batch < 2 {
		exceptions.Panicf("layers.JointNLL: a batch needs two inputs, which make a pair, got %d", batch)
	}
	second := Concatenate([]*Node{SliceAxis(first, 1, AxisRange(1)), SliceAxis(first, 1, AxisRange(0, 1))}, 1)
	bits := rng.New(Const(g, []uint64{0})).Named("layers").Named("dyadic").Bits(batch, tau)
	firsts := ReduceSum(ConvertDType(BitwiseShiftRightLogicalScalar(bits, uint32(31)), first.DType()), 2) // [1, batch]
	return Neg(logMean(Add(Mul(first, firsts), Mul(second, Sub(Scalar(g, first.DType(), tau), firsts)))))
}

// Entropies splits the uncertainty about the class of each input, [batch], in nats. total is the entropy of the mean
// class probabilities, aleatoric is the mean entropy of an index's probabilities, and epistemic is their difference:
// the mutual information of the label and the index. It is large where indices disagree, often at inputs that differ
// from the data, but not at all of these. logits are [indices, batch, classes].
func Entropies(logits *Node) (total, aleatoric, epistemic *Node) {
	log := logProbabilities(logits)
	mean := logMean(log)
	total = Neg(ReduceSum(Mul(Exp(mean), mean), -1))
	aleatoric = Neg(ReduceMean(ReduceSum(Mul(Exp(log), log), -1), 0))
	return total, aleatoric, Sub(total, aleatoric)
}

// Probabilities returns the mean over indices of the class probabilities, [batch, classes].
func Probabilities(logits *Node) *Node { return Exp(logMean(logProbabilities(logits))) }

// CalibrationError returns the expected calibration error of the mean class probabilities, a scalar: the mean distance
// between the probability of the class that is predicted and the frequency with which it is right, in bins of equal
// width of the probability (Guo et al. 2017). Shapes and labels are as in [MarginalNLL].
func CalibrationError(logits, labels *Node, bins int) *Node {
	p := Probabilities(logits)
	top := ReduceMax(p, 1)
	frequency := right(p, labels)
	bin := ConvertDType(Ceil(AddScalar(MulScalar(top, float64(bins)), -1)), dtypes.Int32)
	in := OneHot(ClipScalar(bin, 0, float64(bins-1)), bins, p.DType()) // [batch, bins]
	gap := ReduceSum(Mul(in, InsertAxes(Sub(top, frequency), -1)), 0)
	return DivScalar(ReduceAllSum(Abs(gap)), float64(top.Shape().Size()))
}

// JointMetrics returns GoMLX's metrics for classes: the error of the mean probabilities, the marginal and the joint
// negative log-likelihood (of tau labels), and the calibration error in 15 bins. They are means over the batches of an
// evaluation, so take batches of one size, and large ones: the calibration error of a small batch is too large. A label
// that is no class makes them NaN.
func JointMetrics(tau int) (all []metric.Interface) {
	for _, s := range scores(tau) {
		all = append(all, metric.NewMeanMetric(s.name, s.short, s.name, func(_ *model.Scope, labels, logits []*Node) *Node {
			return ReduceAllMean(s.of(logits[0], labels[0]))
		}, nil))
	}
	return all
}

// score is a number by which predictions are judged, a scalar or one for each input: [batch].
type score struct {
	name, short string
	of          func(logits, labels *Node) *Node
}

// scores returns the functions that compute the fields of [Scores], in their order. tau is the number of labels that
// the joint NLL takes together.
func scores(tau int) []score {
	return []score{
		{"error", "err", func(logits, labels *Node) *Node {
			return OneMinus(right(Probabilities(logits), labels))
		}},
		{"marginal NLL", "nll", MarginalNLL},
		{"joint NLL", "joint", func(logits, labels *Node) *Node { return JointNLL(logits, labels, tau) }},
		{"calibration error", "ece", func(logits, labels *Node) *Node { return CalibrationError(logits, labels, 15) }},
	}
}

// logProbabilities returns the log probabilities of the classes. A probability of 0, from a logit of -inf, has the log
// -1e6, so that products with 0 stay finite.
func logProbabilities(logits *Node) *Node {
	if logits.Rank() != 3 {
		exceptions.Panicf("scores of package layers need logits [indices, batch, classes], got %s", logits.Shape())
	}
	return MaxScalar(LogSoftmax(logits), -1e6)
}

// ofLabels returns the log probabilities of the labels, [indices, batch].
func ofLabels(logits, labels *Node) *Node {
	log := logProbabilities(logits)
	n, batch, classes := log.Shape().Dim(0), log.Shape().Dim(1), log.Shape().Dim(2)
	class, zero := classOf(labels, batch, classes, log.DType())
	own := OneHot(class, classes, log.DType())
	isOwn := BroadcastToShape(GreaterThan(InsertAxes(own, 0), ScalarZero(log.Graph(), log.DType())),
		shapes.Make(dtypes.Bool, n, batch, classes))
	return ReduceSum(Where(isOwn, log, BroadcastToShape(InsertAxes(zero, 0, -1), log.Shape())), 2)
}

// classOf returns the labels of a batch as int64 [batch], and a zero for each: NaN for a label that is no class.
func classOf(labels *Node, batch, classes int, dtype dtypes.DType) (class, zero *Node) {
	if labels.Shape().Size() != batch || !labels.DType().IsInt() {
		exceptions.Panicf("scores of package layers need one integer for each of %d inputs as labels, got %s", batch,
			labels.Shape())
	}
	g := labels.Graph()
	class = ConvertDType(Reshape(labels, -1), dtypes.Int64)
	is := LogicalAnd(GreaterOrEqual(class, Const(g, int64(0))), LessThan(class, Const(g, int64(classes))))
	return class, Where(is, ScalarZero(g, dtype), Scalar(g, dtype, math.NaN()))
}

// right is 1 for each input whose most probable class is its label, 0 for others, and NaN where the label is no class.
func right(p, labels *Node) *Node {
	class, zero := classOf(labels, p.Shape().Dim(0), p.Shape().Dim(1), p.DType())
	return Add(ConvertDType(Equal(ArgMax(p, 1, class.DType()), class), p.DType()), zero)
}

// logMean returns the log of the mean of exp(x) over the first axis.
func logMean(x *Node) *Node {
	most := StopGradient(ReduceAndKeep(x, ReduceMax, 0))
	sum := ReduceAndKeep(Exp(Sub(x, most)), ReduceSum, 0)
	return Squeeze(AddScalar(Add(Log(sum), most), -math.Log(float64(x.Shape().Dim(0)))), 0)
}
