package row

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// Sum, and both of its ways to add up that XLA for CPUs has, agree with sums in float64, up to roundings of float32.
func TestSum(t *testing.T) {
	const runs, n, rows, columns = 2, 40, 9, 7
	x, to, want := make([][][]float32, runs), make([][]int32, runs), [runs][rows][columns]float64{}
	for run := range runs {
		for i := range n {
			row := i * i * (run + 1) % 8 // nothing goes to the last row
			to[run], x[run] = append(to[run], int32(row)), append(x[run], make([]float32, columns))
			for c := range columns {
				v := float32(100*run+i+1) / float32(3*c+7) * []float32{1, -1e-6, 1e6}[c%3]
				x[run][i][c] = v
				want[run][row][c] += float64(v)
			}
		}
	}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		sums := map[string]func(x, to *Node, rows int) *Node{"Sum": Sum, "scatter": scatter, "byParts": byParts}
		if name == backend.Go { // It returns products of bfloat16 in bfloat16.
			delete(sums, "byParts")
		}
		b := must.M1(backend.Open(name))
		for what, sum := range sums {
			out := must.M1(CallOnce(b, func(x, to *Node) *Node { return sum(x, to, rows) }, x, to))
			got := out.Value().([][][]float32)
			for run := range runs {
				for row := range rows {
					for c, w := range want[run][row] {
						if g := float64(got[run][row][c]); math.Abs(g-w) > 1e-6*math.Abs(w) {
							t.Errorf("%s: run %d, row %d, column %d: %v, want %v", what, run, row, c, g, w)
						}
					}
				}
			}
		}
	})
}
