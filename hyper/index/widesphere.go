package index

import (
	"math"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/rng"
)

// WideSphere is the uniform distribution on the sphere of radius sqrt(N), of N-dimensional vectors whose entries have
// variance 1: the reference distribution of Ensemble++. A_t is uniform on the unit sphere, so that a^T z has variance 1,
// and is bounded by sqrt(N).
type WideSphere struct{ N int }

var _ Distribution = WideSphere{}

func (d WideSphere) Dim() int   { return d.N }
func (d WideSphere) Width() int { return d.N }
func (d WideSphere) Moments() Moments {
	return Moments{Second: 1, Pairs: float64(d.N) / (float64(d.N) + 2)}
}

func (d WideSphere) Sample(s rng.Stream, n int) Set {
	return Vectors(graph.MulScalar(s.Sphere(n, d.N), math.Sqrt(float64(d.N))))
}
func (d WideSphere) Perturbation(s rng.Stream, n int) *graph.Node        { return s.Sphere(n, d.N) }
func (d WideSphere) Dot(a *graph.Node, z Set, _ *graph.Node) *graph.Node { return dense(a, z) }
