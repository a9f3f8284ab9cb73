package index

import (
	"math"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// Axes returns, for each run, the given number of equal sets of 2 Dim indices: +-c e_m along each axis m, where c is
// such that a set has the distribution's second moments. It suits distributions with mean 0 and E z_i z_j = 0. The mean
// over a set of every quadratic function of z is exactly its mean over the distribution.
func Axes(d Distribution, g *graph.Graph, runs, sets int) Set {
	dim := d.Dim()
	one := graph.OneHot(graph.Iota(g, shapes.Make(dtypes.Int32, dim), 0), dim, dtypes.Float32)
	one = graph.MulScalar(one, math.Sqrt(float64(dim)*d.Moments().Second))
	set := graph.InsertAxes(graph.Concatenate([]*graph.Node{one, graph.Neg(one)}, 0), 0, 0)
	return Vectors(graph.Reshape(graph.BroadcastToDims(set, runs, sets, 2*dim, dim), runs, sets*2*dim, dim))
}
