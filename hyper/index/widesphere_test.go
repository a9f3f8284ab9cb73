package index

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// All vectors have length sqrt(N), vectors A length 1, and the moments are those that Moments says: E z_i^2 = 1 and E
// z_i^2 z_j^2 = N/(N+2), within 5 standard errors of 40,000 draws of numbers of at most N^2 = 16.
func TestWideSphere(t *testing.T) {
	const n, dim = 40_000, 4
	law := WideSphere{dim}
	testbackend.Each(t, func(t *testing.T, name string) {
		out := eval(t, name, func(in []*graph.Node) []*graph.Node {
			s := rng.New(in[0])
			z, a := law.Sample(s.Named("z"), n), law.Perturbation(s.Named("a"), 1)
			return []*graph.Node{z.Dense(), a, law.Dot(a, z, nil)}
		}, []uint64{3})
		var second, pairs, dots float64
		for z := range slices.Chunk(out[0], dim) {
			norm := 0.0
			for _, x := range z {
				norm += float64(x) * float64(x)
			}
			if math.Abs(norm-dim) > 1e-4 {
				t.Fatalf("%v has length %v", z, math.Sqrt(norm))
			}
			second += float64(z[1]) * float64(z[1]) / n
			pairs += math.Pow(float64(z[0])*float64(z[2]), 2) / n
		}
		for _, u := range out[2] {
			dots += float64(u) * float64(u) / n
		}
		m := law.Moments()
		for what, pair := range map[string][2]float64{"E z^2": {second, m.Second}, "E z_i^2 z_j^2": {pairs, m.Pairs}, "E (a^T z)^2": {dots, 1}} {
			if math.Abs(pair[0]-pair[1]) > 5/math.Sqrt(n) {
				t.Errorf("%s is %.4f, want %.4f", what, pair[0], pair[1])
			}
		}
		norm := 0.0
		for _, x := range out[1] {
			norm += float64(x) * float64(x)
		}
		if math.Abs(norm-1) > 1e-5 {
			t.Errorf("a is %v", out[1])
		}
	})
}

// Axes are in each set, of each run, the vectors +-c e_m, whose mean is 0 and whose second moments are the law's.
func TestAxes(t *testing.T) {
	for _, law := range []Distribution{Gaussian{3}, Sphere{3}, WideSphere{3}} {
		c := float32(math.Sqrt(3 * law.Moments().Second))
		out := eval(t, "go", func(in []*graph.Node) []*graph.Node {
			z := Axes(law, in[0].Graph(), 2, 2)
			if z.Len() != 12 {
				t.Errorf("%d indices", z.Len())
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
