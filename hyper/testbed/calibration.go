package testbed

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
)

// calibrationBins is the number of bins of the confidence in a class, from 0 to 1, as in the testbed. The confidence in
// the likelier of two classes is in one of the upper five bins.
const calibrationBins = 10

// calibration returns the accuracy and the expected calibration error of single predictions, [runs] each. Its input ll
// [runs, batches] has the log-likelihoods of the classes that were drawn, one of two in each batch. An agent predicts
// the class that it considers likelier; the probability of that class is its confidence. The calibration error is the
// mean distance, over bins of confidence, between mean confidence and accuracy; bins are weighted by their number of
// predictions (Guo et al., "On calibration of modern neural networks", ICML 2017). The testbed computes both numbers
// from 100 functions and 1,001 inputs; here they use all functions and all batches of the divergence. Both are NaN if a
// prediction is NaN.
func calibration(ll *Node) (accuracy, ece *Node) {
	p := Exp(ll)
	right := ConvertDType(GreaterThan(ll, AddScalar(ZerosLike(ll), -math.Ln2)), ll.DType())
	right = Add(right, Sub(ll, ll)) // NaN where ll is NaN
	confidence := Max(p, OneMinus(p))
	bin := ConvertDType(MinScalar(MulScalar(confidence, calibrationBins), calibrationBins-1), dtypes.Int32)
	in := OneHot(bin, calibrationBins, ll.DType()) // [runs, batches, bins]
	off := ReduceSum(Mul(in, InsertAxes(Sub(right, confidence), -1)), 1)
	return ReduceMean(right, 1), DivScalar(ReduceSum(Abs(off), 1), float64(ll.Shape().Dim(1)))
}
