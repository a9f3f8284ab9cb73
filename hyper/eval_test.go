package hyper

import (
	"math/rand/v2"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// eval runs a graph function once, and same compares its outputs.
var eval, same = testbackend.Eval[float64], testbackend.Near

// random returns a tensor of standard normal numbers.
func random(r *rand.Rand, dims ...int) *tensors.Tensor {
	n := 1
	for _, d := range dims {
		n *= d
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return tensors.FromFlatDataAndDimensions(v, dims...)
}

// single is the tolerance between two computations of a number in single precision: about a hundred roundings of 6e-8.
const single = 5e-6
