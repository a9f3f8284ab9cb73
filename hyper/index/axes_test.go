package index

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
)

// Axes returns, in each set of each run, the vectors +-c e_m. Their mean is 0. Their second moments equal the
// second moments of the distribution.
func TestAxes(t *testing.T) {
	for _, law := range []Distribution{Gaussian{3}, Sphere{3}, Paired{N: 3, Reference: LawSphere, Noise: LawSphere}} {
		c := float32(math.Sqrt(3 * law.Moments().Second))
		out := eval(t, "go", func(in []*graph.Node) []*graph.Node {
			z := Axes(law, in[0].Graph(), 2, 2)
			if z.Len() != 12 {
				t.Errorf("got %d indices, want 12", z.Len())
			}
			return []*graph.Node{z.Dense()}
		}, []uint64{3})[0]
		set := []float32{c, 0, 0, 0, c, 0, 0, 0, c, -c, 0, 0, 0, -c, 0, 0, 0, -c}
		for i, got := range out {
			if want := set[i%len(set)]; math.Abs(float64(got-want)) > 1e-6 || len(out) != 4*len(set) {
				t.Fatalf("%+v: %v, want %v four times", law, out, set)
			}
		}
	}
}
