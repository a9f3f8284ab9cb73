package hyper

import (
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// eval runs a graph function once and returns its float32 outputs, flat in row-major order.
func eval(t testing.TB, name string, fn func(in []*Node) []*Node, args ...any) [][]float64 {
	t.Helper()
	b, err := backend.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	out, err := CallOnceN(b, fn, args...)
	if err != nil {
		t.Fatal(err)
	}
	flat := make([][]float64, len(out))
	for i, o := range out {
		for _, v := range tensors.MustCopyFlatData[float32](o) {
			flat[i] = append(flat[i], float64(v))
		}
	}
	return flat
}

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

// same reports entries that differ by more than tolerance * (1 + the largest wanted number).
func same(t testing.TB, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
		return
	}
	largest := 0.0
	for _, w := range want {
		largest = max(largest, math.Abs(w))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*(1+largest)) {
			t.Errorf("%s: entry %d is %g, want %g", what, i, got[i], want[i])
			return
		}
	}
}

// single is the tolerance between two computations of a number in single precision: about a hundred roundings of 6e-8.
const single = 5e-6
