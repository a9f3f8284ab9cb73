package testbackend

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// Eval runs a graph function once, and returns its float32 outputs, each flat and row-major.
func Eval[T float32 | float64](t testing.TB, name string, fn func(in []*graph.Node) []*graph.Node, args ...any) [][]T {
	t.Helper()
	out := must.M1(graph.CallOnceN(must.M1(backend.Open(name)), fn, args...))
	flat := make([][]T, len(out))
	for i, o := range out {
		for _, v := range tensors.MustCopyFlatData[float32](o) {
			flat[i] = append(flat[i], T(v))
		}
	}
	return flat
}

// Near reports the first entry of got that differs from want by more than tolerance * (1 + the largest |want|).
func Near(t testing.TB, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	largest := 0.0
	for _, w := range want {
		largest = max(largest, math.Abs(w))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*(1+largest)) {
			t.Errorf("%s: entry %d is %.7g, want %.7g (all: %.5g, want %.5g)", what, i, got[i], want[i], head(got), head(want))
			return
		}
	}
}

func head(v []float64) []float64 { return v[:min(len(v), 12)] }
