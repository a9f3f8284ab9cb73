package index

import (
	"github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Sphere is the uniform distribution on the unit sphere of N-dimensional vectors. A_t is N(0, I) (section 2.1), so that
// a^T z is N(0, 1) given z.
type Sphere struct{ N int }

var _ Distribution = Sphere{}

func (d Sphere) Dim() int   { return d.N }
func (d Sphere) Width() int { return d.N }
func (d Sphere) Moments() Moments {
	return Moments{Second: 1 / float64(d.N), Pairs: 1 / (float64(d.N) + 2)}
}

func (d Sphere) Sample(s rng.Stream, n int) Set                      { return Vectors(s.Sphere(n, d.N)) }
func (d Sphere) Perturbation(s rng.Stream, n int) *graph.Node        { return s.Normal(n, d.N) }
func (d Sphere) Dot(a *graph.Node, z Set, _ *graph.Node) *graph.Node { return dense(a, z) }
