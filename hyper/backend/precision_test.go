package backend_test

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Matrix products of float32 have single precision on all backends: a GPU's TF32 has errors of 1.5e-3 (H200).
func TestPrecision(t *testing.T) {
	const n = 256
	testbackend.ForEach(t, func(t *testing.T, name string) {
		b := must.M1(backend.Open(name))
		e := MustNewExec(b, func(seed *Node) []*Node {
			r := rng.New(seed)
			x, y := Squeeze(r.Named("x").Normal(n, n), 0), Squeeze(r.Named("y").Normal(n, n), 0)
			return []*Node{x, y, Einsum("ij,jk->ik", x, y)}
		})
		out := e.MustCall([]uint64{3})
		x, y, z := out[0].Value().([][]float32), out[1].Value().([][]float32), out[2].Value().([][]float32)
		var worst, of float64
		for i := range n {
			for k := range n {
				exact := 0.0
				for j := range n {
					exact += float64(x[i][j]) * float64(y[j][k])
				}
				worst, of = max(worst, math.Abs(float64(z[i][k])-exact)), of+exact*exact
			}
		}
		if of = math.Sqrt(of) / n; !(worst < 1e-5*of) {
			t.Errorf("an element has an error of %.1e; elements are about %.1f", worst, of)
		}
	})
}
