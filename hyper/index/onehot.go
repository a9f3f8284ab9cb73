package index

import (
	"github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// OneHot is the uniform distribution over the N one-hot vectors: the index of an ensemble of N particles (section 2.2).
// A_t is N(0, I) (section 4.1), so that each particle has its own perturbation of each data point.
type OneHot struct{ N int }

var _ Enumerable = OneHot{}

func (d OneHot) Dim() int         { return d.N }
func (d OneHot) Width() int       { return d.N }
func (d OneHot) Moments() Moments { return Moments{Mean: 1 / float64(d.N), Second: 1 / float64(d.N)} }

func (d OneHot) Sample(s rng.Stream, n int) Set {
	return Set{ID: s.Intn(graph.Const(s.Graph(), int32(d.N)), n), dim: d.N}
}
func (d OneHot) All(g *graph.Graph, runs int) Set {
	return Set{ID: graph.Iota(g, shapes.Make(dtypes.Int32, runs, d.N), 1), Every: true, dim: d.N}
}
func (d OneHot) Perturbation(s rng.Stream, n int) *graph.Node { return s.Normal(n, d.N) }

// Dot returns, for each index, its column of a: [runs, indices, inputs].
func (d OneHot) Dot(a *graph.Node, z Set, _ *graph.Node) *graph.Node {
	if z.Every {
		return graph.Transpose(a, 1, 2)
	}
	return dense(a, z)
}
