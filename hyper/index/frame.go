package index

import (
	"math"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Frame draws, for each run, the given number of sets of n indices, one set after the other. n must be even, and the
// distribution must have [Moments].Pairs. A set has z and -z for n/2 vectors. The vectors are orthogonal in groups of
// [FrameSize]/2, and their length is the root mean square of the distribution's. Each block of an index has its own
// frame. The mean of a set is exactly 0. If n is a multiple of FrameSize, the second moments within a block are also
// exactly those of the distribution.
//
// A frame removes the noise of few indices from gradients. The gradient of a linear hypermodel depends on z only
// through sum z and sum z z^T. If these are exact, it has the base model's own curvature in every direction of (mu, C).
// With n i.i.d. indices, the curvature is many times too large in some directions.
func Frame(d Distribution, s rng.Stream, sets, n int) Set {
	m, dim := d.Moments(), FrameSize(d)/2
	return Vectors(graph.MulScalar(frame(s, sets, n, max(m.Blocks, 1), dim), math.Sqrt(float64(dim)*m.Second)))
}

// FrameSize returns the least number of indices of a [Frame] with exact second moments.
func FrameSize(d Distribution) int { return 2 * d.Dim() / max(d.Moments().Blocks, 1) }

// frame returns sets of n/2 unit vectors and their opposites, [runs, sets * n, parts * dim], with a separate frame for
// each part. An orthogonal matrix is (H S)^3, where H is the orthonormal cosine transform and S has random signs. Such
// a matrix is close to uniform over rotations and much cheaper to draw (Yu et al., "Orthogonal random features",
// NeurIPS 2016, with the Hadamard transform, which does not exist in every dimension). In two dimensions only the four
// directions (+-1, +-1) occur.
func frame(s rng.Stream, sets, n, parts, dim int) *graph.Node {
	g, runs := s.Graph(), s.Runs()
	groups := sets * ((n/2 + dim - 1) / dim)
	h := graph.Const(g, cosines(dim))
	signs := graph.ConvertDType(graph.BitwiseShiftRightLogicalScalar(s.Bits(3, groups*parts, 1, dim), uint32(31)),
		dtypes.Float32)
	signs = graph.AddScalar(graph.MulScalar(signs, 2), -1)
	sign := func(i int) *graph.Node { // [runs, groups*parts, 1, dim]
		return graph.Squeeze(graph.Slice(signs, graph.AxisRange(), graph.AxisElem(i)), 1)
	}
	q := graph.Mul(graph.InsertAxes(h, 0, 0), sign(0))
	for i := 1; i < 3; i++ {
		q = graph.Mul(graph.Einsum("rgij,jk->rgik", q, h), sign(i))
	}
	q = graph.Reshape(q, runs, groups, parts, dim, dim)
	q = graph.Reshape(graph.Transpose(q, 2, 3), runs, sets, groups/sets*dim, parts*dim)
	q = graph.Slice(q, graph.AxisRange(), graph.AxisRange(), graph.AxisRange(0, n/2))
	return graph.Reshape(graph.Concatenate([]*graph.Node{q, graph.Neg(q)}, 2), runs, sets*n, parts*dim)
}

// cosines returns the orthonormal matrix of the discrete cosine transform.
func cosines(n int) [][]float32 {
	h := make([][]float32, n)
	for k := range h {
		h[k] = make([]float32, n)
		scale := math.Sqrt(2 / float64(n))
		if k == 0 {
			scale = math.Sqrt(1 / float64(n))
		}
		for i := range h[k] {
			h[k][i] = float32(scale * math.Cos(math.Pi*(float64(i)+0.5)*float64(k)/float64(n)))
		}
	}
	return h
}
