package index

import (
	"math"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Law is a distribution of vectors a in R^M with mean 0 and E a a^T = I/M. The squared length of a is 1; for
// LawGaussian it is 1 on average. Vectors that are multiplied by sqrt(M) have covariance I.
type Law int

// The laws of Ensemble++ (Li et al., "Scalable exploration via Ensemble++").
const (
	LawGaussian   Law = iota + 1 // N(0, I/M)
	LawSphere                    // uniform on the unit sphere
	LawCube                      // +-1/sqrt(M) in each component
	LawCoordinate                // +-e_i, all 2M equally likely
	LawSparse                    // +-1/sqrt(s) in one component of each of s blocks of M/s (Kane and Nelson 2014)
)

func (l Law) String() string {
	return enum.Word(l, "gaussian", "sphere", "cube", "coordinate", "sparse")
}

// draw returns n vectors of dim numbers for each run, [runs, n, dim], and their length. nonzero is s of LawSparse.
// Vectors of LawGaussian and LawCube have variance 1 in each component; the caller must divide by the length.
func (l Law) draw(s rng.Stream, n, dim, nonzero int) (vectors *graph.Node, length float64) {
	root := math.Sqrt(float64(dim))
	switch l {
	case LawSphere:
		return s.Sphere(n, dim), 1
	case LawCube:
		return s.Signs(n, dim), root
	case LawCoordinate:
		return oneOf(s, n, 1, dim), 1
	case LawSparse:
		return oneOf(s, n, nonzero, dim/nonzero), math.Sqrt(float64(nonzero))
	}
	return s.Normal(n, dim), root
}

// oneOf returns vectors of blocks, [runs, n, blocks * size]. In each block one number is 1 or -1, and the others are 0.
func oneOf(s rng.Stream, n, blocks, size int) *graph.Node {
	at := s.Named("place").Intn(graph.Const(s.Graph(), int32(size)), n, blocks)
	one := graph.OneHot(at, size, dtypes.Float32)
	one = graph.Mul(one, graph.InsertAxes(s.Named("sign").Signs(n, blocks), -1))
	return graph.Reshape(one, s.Runs(), n, blocks*size)
}

// Paired is an index of N numbers with mean 0 and covariance I, and with perturbations A_t of length 1. Each has a
// [Law] of its own: z is sqrt(N) times a vector of Reference, and A_t is a vector of Noise. For every a of length 1,
// a^T z has mean 0 and variance 1 over z. [Gaussian] has the laws LawGaussian and LawSphere.
type Paired struct {
	N                int
	Reference, Noise Law
	Nonzero          int // for LawSparse: number of components that are not 0, a divisor of N
}

var _ Distribution = Paired{}

func (d Paired) Dim() int   { return d.N }
func (d Paired) Width() int { return d.N }

// Moments returns the moments, with Pairs for the laws that are invariant under rotations.
func (d Paired) Moments() Moments {
	m := Moments{Second: 1, Normal: d.Reference == LawGaussian}
	switch d.Reference {
	case LawGaussian:
		m.Pairs = 1
	case LawSphere:
		m.Pairs = float64(d.N) / (float64(d.N) + 2)
	}
	return m
}

func (d Paired) Sample(s rng.Stream, n int) Set {
	v, length := d.Reference.draw(s, n, d.N, d.Nonzero)
	return Vectors(graph.MulScalar(v, math.Sqrt(float64(d.N))/length))
}

func (d Paired) Perturbation(s rng.Stream, n int) *graph.Node {
	v, length := d.Noise.draw(s, n, d.N, d.Nonzero)
	return graph.MulScalar(v, 1/length)
}

func (d Paired) Dot(a *graph.Node, z Set, _ *graph.Node) *graph.Node { return dense(a, z) }
