package index

import (
	"math"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Framed is a distribution that also draws sets whose sample moments are those of the law, which takes the noise of a
// few indices out of gradients: a linear hypermodel's gradient needs only sum z and sum z z^T right to see the base
// model's own curvature in every direction of (mu, C), where n i.i.d. indices see some directions many times too steep.
type Framed interface {
	Distribution
	// Frame draws so many sets of n indices, n even, for each run, one after the other. In a set are z and -z for n/2
	// vectors, which are orthogonal in groups of [Framed.FrameSize]/2 and as long as the root mean square of the law. The
	// mean is exactly 0 for all n, and for a multiple of FrameSize the second moments are exactly those of the law too.
	Frame(s rng.Stream, sets, n int) Set
	// FrameSize is the least n with exact second moments.
	FrameSize() int
}

var (
	_ Framed = Gaussian{}
	_ Framed = Sphere{}
	_ Framed = PerArm{}
)

// Frame draws frames of length sqrt(N).
func (d Gaussian) Frame(s rng.Stream, sets, n int) Set {
	return Vectors(graph.MulScalar(frame(s, sets, n, 1, d.N), math.Sqrt(float64(d.N))))
}

// FrameSize is 2 N.
func (d Gaussian) FrameSize() int { return 2 * d.N }

// Frame draws frames of length 1.
func (d Sphere) Frame(s rng.Stream, sets, n int) Set { return Vectors(frame(s, sets, n, 1, d.N)) }

// FrameSize is 2 N.
func (d Sphere) FrameSize() int { return 2 * d.N }

// Frame draws a frame for each arm's block: moments are exact within a block, and across blocks in expectation.
func (d PerArm) Frame(s rng.Stream, sets, n int) Set {
	return Vectors(graph.MulScalar(frame(s, sets, n, d.Arms, d.M), math.Sqrt(float64(d.M))))
}

// FrameSize is 2 M.
func (d PerArm) FrameSize() int { return 2 * d.M }

// frame returns sets of n/2 unit vectors and their opposites, [runs, sets * n, parts * dim], with a frame for each
// part. An orthogonal matrix is (H S)^3, with H the orthonormal cosine transform and S random signs: close to the
// uniform law over rotations and far cheaper to draw (Yu et al., "Orthogonal random features", NeurIPS 2016, who use
// the Hadamard transform, which not every dimension has). In two dimensions only the four directions (+-1, +-1) occur.
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

// cosines is the orthonormal matrix of the discrete cosine transform.
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
