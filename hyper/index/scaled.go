package index

import (
	"github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Scaled is the Gaussian distribution N(0, Deviation^2 I). The Neural Testbed's hypermodel has Deviation 1/sqrt(N). A_t
// is multiplied by 1/Deviation, so that a^T z is N(0, 1) given a.
type Scaled struct {
	N         int
	Deviation float64
}

var _ Distribution = Scaled{}

// Validate returns an error if the deviation is not positive.
func (d Scaled) Validate() error { return faults.Positive("Deviation", d.Deviation) }

func (d Scaled) Dim() int   { return d.N }
func (d Scaled) Width() int { return d.N }

// Moments returns the moments without Pairs, because frames exist only for unit Gaussians.
func (d Scaled) Moments() Moments { return Moments{Second: d.Deviation * d.Deviation} }

func (d Scaled) Sample(s rng.Stream, n int) Set {
	return Vectors(graph.MulScalar(s.Normal(n, d.N), d.Deviation))
}
func (d Scaled) Perturbation(s rng.Stream, n int) *graph.Node {
	return graph.MulScalar(s.Sphere(n, d.N), 1/d.Deviation)
}
func (d Scaled) Dot(a *graph.Node, z Set, _ *graph.Node) *graph.Node { return dense(a, z) }
