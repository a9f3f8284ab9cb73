package index

import (
	"github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Gaussian is the unit Gaussian distribution N(0, I) of N-dimensional vectors. A_t is uniform on the unit sphere
// (section 2.1), so that a^T z is N(0, 1) given a.
type Gaussian struct{ N int }

var _ Distribution = Gaussian{}

func (d Gaussian) Dim() int         { return d.N }
func (d Gaussian) Width() int       { return d.N }
func (d Gaussian) Moments() Moments { return Moments{Second: 1, Pairs: 1, Normal: true} }

func (d Gaussian) Sample(s rng.Stream, n int) Set                      { return Vectors(s.Normal(n, d.N)) }
func (d Gaussian) Perturbation(s rng.Stream, n int) *graph.Node        { return s.Sphere(n, d.N) }
func (d Gaussian) Dot(a *graph.Node, z Set, _ *graph.Node) *graph.Node { return dense(a, z) }
