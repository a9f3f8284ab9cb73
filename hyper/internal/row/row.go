// Package row reads and writes rows of arrays that have several runs.
package row

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// Take returns the rows of m [runs, rows, columns] at the positions at, int32 [runs, n]: [runs, n, columns].
func Take(m, at *Node) *Node {
	runs, rows, columns := m.Shape().Dim(0), m.Shape().Dim(1), m.Shape().Dim(2)
	n := at.Shape().Dim(1)
	offset := MulScalar(Iota(m.Graph(), shapes.Make(dtypes.Int32, runs, 1), 0), int32(rows))
	flat := Gather(Reshape(m, runs*rows, columns), Reshape(Add(at, offset), runs*n, 1))
	return Reshape(flat, runs, n, columns)
}

// Of returns one row of m [runs, rows, columns] for each run, at the row numbers at, int32 [runs]: [runs, columns].
func Of(m, at *Node) *Node { return Squeeze(Take(m, InsertAxes(at, -1)), 1) }

// At returns one row of m [runs, rows, ...], at the same position for all runs, an int32 scalar: [runs, ...].
func At(m, at *Node) *Node {
	if !canSlice(m.Graph()) {
		return ReduceSum(Where(is(m, at), m, ZerosLike(m)), 1)
	}
	sizes := slices.Clone(m.Shape().Dimensions)
	sizes[1] = 1
	return Squeeze(DynamicSlice(m, start(at, len(sizes)), sizes), 1)
}

// Put returns m [runs, rows, ...] with x [runs, ...] as the row at a position, which is the same for all runs, an int32
// scalar.
func Put(m, x, at *Node) *Node {
	x = InsertAxes(x, 1)
	if !canSlice(m.Graph()) {
		return Where(is(m, at), BroadcastToShape(x, m.Shape()), m)
	}
	return DynamicUpdateSlice(m, x, start(at, m.Rank()))
}

// canSlice reports whether a backend can read and write parts of arrays at computed positions.
func canSlice(g *Graph) bool {
	can := g.Backend().Capabilities().Operations
	return can[compute.OpTypeDynamicUpdateSlice] && can[compute.OpTypeDynamicSlice]
}

// start returns the start indices of a row in an array of the given rank.
func start(at *Node, rank int) []*Node {
	from := slices.Repeat([]*Node{ScalarZero(at.Graph(), dtypes.Int32)}, rank)
	from[1] = at
	return from
}

// is marks the elements of m that are in a row.
func is(m, at *Node) *Node {
	return Equal(Iota(m.Graph(), shapes.Make(dtypes.Int32, m.Shape().Dimensions...), 1), at)
}
