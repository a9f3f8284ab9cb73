package index

import (
	"math"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// Axes returns so many equal sets of 2 Dim indices for each run, one after the other: +-c e_m along each axis m, with
// the c that gives them the distribution's second moments. It is for distributions of mean 0 whose entries have no
// products in the mean. What is quadratic in z has the distribution's mean over them exactly.
func Axes(d Distribution, g *graph.Graph, runs, sets int) Set {
	dim := d.Dim()
	one := graph.OneHot(graph.Iota(g, shapes.Make(dtypes.Int32, dim), 0), dim, dtypes.Float32)
	one = graph.MulScalar(one, math.Sqrt(float64(dim)*d.Moments().Second))
	set := graph.InsertAxes(graph.Concatenate([]*graph.Node{one, graph.Neg(one)}, 0), 0, 0)
	return Vectors(graph.Reshape(graph.BroadcastToDims(set, runs, sets, 2*dim, dim), runs, sets*2*dim, dim))
}
