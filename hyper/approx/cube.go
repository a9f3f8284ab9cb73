package approx

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// cube is the uniform distribution over [0, 1]^N as an index distribution. Its components have mean 1/2, so that,
// unlike in the other distributions, E z_i z_j = 1/4 for i != j.
type cube struct{ N int }

var _ index.Distribution = cube{}

func (d cube) Dim() int   { return d.N }
func (d cube) Width() int { return d.N }

// Moments returns mean 1/2 and mean square 1/3.
func (d cube) Moments() index.Moments { return index.Moments{Mean: 0.5, Second: 1.0 / 3} }

// Sample draws n indices for each run.
func (d cube) Sample(s rng.Stream, n int) index.Set { return index.Vectors(s.Uniform(n, d.N)) }

// Perturbation draws A_t uniformly on the sphere of radius sqrt(12), so that A_t^T z has variance 1 given A_t.
func (d cube) Perturbation(s rng.Stream, n int) *Node {
	return MulScalar(s.Sphere(n, d.N), 3.4641016151377544)
}

// Dot returns a^T z.
func (d cube) Dot(a *Node, z index.Set, _ *Node) *Node { return Einsum("rnz,rbz->rnb", z.Dense(), a) }
