package index

import (
	"github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// PerArm is the index of section 4.1: the concatenation z = (z_1, ..., z_K) of independent N(0, I_m), with one block
// for each of the K arms. A_t is uniform on the unit sphere of m-dimensional vectors, and belongs to the block of the
// arm that was played: the perturbation of a datum at arm x is sigma_w A_t^T z_x.
type PerArm struct{ Arms, M int }

var _ Distribution = PerArm{}

func (d PerArm) Dim() int         { return d.Arms * d.M }
func (d PerArm) Width() int       { return d.M }
func (d PerArm) Moments() Moments { return Moments{Second: 1, Pairs: 1, Normal: true, Blocks: d.Arms} }

func (d PerArm) Sample(s rng.Stream, n int) Set               { return Vectors(s.Normal(n, d.Dim())) }
func (d PerArm) Perturbation(s rng.Stream, n int) *graph.Node { return s.Sphere(n, d.M) }

// Dot returns A_t^T z_x. x holds arms, int32 [runs, inputs, 1].
func (d PerArm) Dot(a *graph.Node, z Set, x *graph.Node) *graph.Node {
	runs, n := z.Vector.Shape().Dim(0), z.Len()
	blocks := graph.Reshape(z.Vector, runs, n, d.Arms, d.M)
	arms := graph.OneHot(graph.Squeeze(x, 2), d.Arms, dtypes.Float32) // [runs, inputs, arms]
	block := graph.Einsum("rnkm,rbk->rnbm", blocks, arms)             // z_x of each input
	return graph.ReduceSum(graph.Mul(block, graph.InsertAxes(a, 1)), 3)
}
