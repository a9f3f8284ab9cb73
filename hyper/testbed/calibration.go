package testbed

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
)

// calibrationBins are the testbed's bins of the confidence in a class, from 0 to 1; that in the likelier of two classes
// is in the upper five.
const calibrationBins = 10

// Calibration returns the accuracy and the expected calibration error of single predictions, [runs] each, from the
// log-likelihoods ll [runs, batches] of the classes that were drawn, one of two in each batch. An agent predicts the
// class that it holds likelier, with that probability as its confidence. The error is the mean over bins of confidence,
// weighted by their predictions, of the distance of mean confidence from accuracy (Guo et al., "On calibration of
// modern neural networks", ICML 2017). The testbed takes these numbers from 100 functions and 1,001 inputs; here they
// are from all functions and batches of the divergence. Both are NaN where a prediction is no number.
func Calibration(ll *Node) (accuracy, ece *Node) {
	p := Exp(ll)
	right := ConvertDType(GreaterThan(ll, AddScalar(ZerosLike(ll), -math.Ln2)), ll.DType())
	right = Add(right, Sub(ll, ll)) // no number where ll is none
	confidence := Max(p, OneMinus(p))
	bin := ConvertDType(MinScalar(MulScalar(confidence, calibrationBins), calibrationBins-1), dtypes.Int32)
	in := OneHot(bin, calibrationBins, ll.DType()) // [runs, batches, bins]
	off := ReduceSum(Mul(in, InsertAxes(Sub(right, confidence), -1)), 1)
	return ReduceMean(right, 1), DivScalar(ReduceSum(Abs(off), 1), float64(ll.Shape().Dim(1)))
}
