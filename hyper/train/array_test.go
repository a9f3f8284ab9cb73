package train

import (
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"gonum.org/v1/gonum/mat"
)

func init() { testbackend.CompileQuickly() }

// array is a tensor in plain Go and double precision, row-major. The arrays of tests hold numbers that single precision
// represents exactly.
type array struct {
	dims []int
	v    []float64
}

func newArray(dims ...int) array {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return array{dims, make([]float64, n)}
}

// randomArray draws N(0, sd^2), rounded to single precision.
func randomArray(r *rand.Rand, sd float64, dims ...int) array {
	a := newArray(dims...)
	for i := range a.v {
		a.v[i] = float64(float32(sd * r.NormFloat64()))
	}
	return a
}

// randomInts draws integers below bound.
func randomInts(r *rand.Rand, bound int, dims ...int) array {
	a := newArray(dims...)
	for i := range a.v {
		a.v[i] = float64(r.IntN(bound))
	}
	return a
}

// at returns the number at the given position.
func (a array) at(position ...int) float64 { return a.v[a.offset(position)] }

func (a array) offset(position []int) int {
	at := 0
	for i, p := range position {
		if p < 0 || p >= a.dims[i] {
			panic(fmt.Sprintf("position %v of an array %v", position, a.dims))
		}
		at = at*a.dims[i] + p
	}
	for _, d := range a.dims[len(position):] {
		at *= d
	}
	return at
}

// sub returns the part of a at the given first positions. The part shares memory with a.
func (a array) sub(position ...int) array {
	rest := a.dims[len(position):]
	n := 1
	for _, d := range rest {
		n *= d
	}
	at := a.offset(position)
	return array{rest, a.v[at : at+n]}
}

// dense returns a copy of a matrix.
func (a array) dense() *mat.Dense {
	return mat.NewDense(a.dims[0], a.dims[1], append([]float64(nil), a.v...))
}

// vec returns a copy of a vector.
func (a array) vec() *mat.VecDense { return mat.NewVecDense(len(a.v), append([]float64(nil), a.v...)) }

func (a array) float32s() *tensors.Tensor {
	out := make([]float32, len(a.v))
	for i, v := range a.v {
		out[i] = float32(v)
	}
	return tensors.FromFlatDataAndDimensions(out, a.dims...)
}

func (a array) int32s() *tensors.Tensor {
	out := make([]int32, len(a.v))
	for i, v := range a.v {
		out[i] = int32(v)
	}
	return tensors.FromFlatDataAndDimensions(out, a.dims...)
}

// arrayOf returns the numbers of a tensor.
func arrayOf(t *tensors.Tensor) array {
	a := newArray(t.Shape().Dimensions...)
	switch t.DType() {
	case dtypes.Int32:
		for i, v := range tensors.MustCopyFlatData[int32](t) {
			a.v[i] = float64(v)
		}
		return a
	case dtypes.Float64:
		copy(a.v, tensors.MustCopyFlatData[float64](t))
		return a
	}
	for i, v := range tensors.MustCopyFlatData[float32](t) {
		a.v[i] = float64(v)
	}
	return a
}

// backends returns the names of the backends to test: Go's backend, which is always available, and without -short XLA if
// its plugin is found.
func backends() []string {
	if !testing.Short() && backend.HasXLA && backend.PluginPath("cpu") != "" {
		return []string{backend.Go, backend.XLACPU}
	}
	return []string{backend.Go}
}

// sometimesXLA returns the backends for the i-th of many cases. XLA takes half a second to compile a case, so XLA gets
// one case in twelve. The graphs are the same on all backends; GoMLX's tests check what a backend does with their
// operations.
func sometimesXLA(i int) []string {
	if i%12 != 0 {
		return []string{backend.Go}
	}
	return backends()
}

// eval runs a graph function once.
func eval(t testing.TB, name string, fn func(in []*Node) []*Node, args ...any) []array {
	t.Helper()
	return compiled(t, name, fn)(args...)
}

// compiled returns a graph function as a function of tensors.
func compiled(t testing.TB, name string, fn func(in []*Node) []*Node) func(args ...any) []array {
	t.Helper()
	b := must.M1(backend.Open(name))
	exec := must.M1(NewExec(b, fn))
	return func(args ...any) []array {
		t.Helper()
		out, err := exec.Call(args...)
		if err != nil {
			t.Fatalf("backend %s: got error %v, want none", name, err)
		}
		arrays := make([]array, len(out))
		for i, o := range out {
			arrays[i] = arrayOf(o)
		}
		return arrays
	}
}

// near compares the numbers of two arrays.
var near = testbackend.Near

func head(v []float64) []float64 { return v[:min(len(v), 12)] }
