// Package index holds the reference distributions p_z of section 2: the distributions of the index z, and of
// the vectors A_t that perturb the data (section 2.1).
//
// Axes: a set of n indices for each run is [runs, n, N_z]; the vectors A of a batch of data are [runs, inputs, width].
package index

import (
	"github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Distribution is a reference distribution p_z, with its own distribution of A_t. Implementations are small comparable
// values.
type Distribution interface {
	// Dim is N_z, the length of an index.
	Dim() int
	// Sample draws n indices i.i.d. for each run.
	Sample(s rng.Stream, n int) Set
	// Moments is what is known of it.
	Moments() Moments

	// Width is the length of A_t.
	Width() int
	// Perturbation draws A for n data points of each run: [runs, n, Width].
	Perturbation(s rng.Stream, n int) *graph.Node
	// Dot returns a^T z for each index and data point, [runs, indices, inputs], from a [runs, inputs, Width] and the
	// inputs x of the data points (used only where the index has a part for each input).
	Dot(a *graph.Node, z Set, x *graph.Node) *graph.Node
}

// Moments are what training uses of a distribution beside samples. E z_i z_j is 0 for i != j, but for Bernoulli's 1.
type Moments struct {
	Mean, Second float64 // E z_i and E z_i^2
	// Pairs is E z_i^2 z_j^2 over E z_i^2, i != j, of a distribution that looks the same from all sides, or whose
	// blocks do; 0 elsewhere.
	Pairs  float64
	Normal bool // z_i are independent N(0, 1)
	// Blocks is the number of independent blocks of Width numbers, one for each arm, of which the perturbation of a
	// datum sees that of its arm alone; 0 where it sees the whole index.
	Blocks int
}

// Enumerable is a distribution whose indices are the vectors of the standard basis, all equally likely: the expectation
// over z is their mean. A set of them has their ID.
type Enumerable interface {
	Distribution
	// All returns every index once, for each of so many runs.
	All(g *graph.Graph, runs int) Set
}

// Set is a set of n indices for each run, as [Distribution.Sample] draws it.
type Set struct {
	// Vector is the indices as vectors, [runs, n, N_z]; nil when ID is given.
	Vector *graph.Node
	// ID is the positions of the ones of one-hot indices, int32 [runs, n]; nil for other distributions.
	ID *graph.Node
	// Every says that a one-hot set holds each index once, in order.
	Every bool
	dim   int
}

// Vectors makes a set of the given vectors, [runs, n, N_z].
func Vectors(z *graph.Node) Set { return Set{Vector: z, dim: z.Shape().Dim(2)} }

// Dense returns the indices as vectors, [runs, n, N_z], also for one-hot indices.
func (s Set) Dense() *graph.Node {
	if s.Vector == nil {
		return graph.OneHot(s.ID, s.dim, dtypes.Float32)
	}
	return s.Vector
}

// Slice returns the indices from..to-1 of each run.
func (s Set) Slice(from, to int) Set {
	return s.Part(func(x *graph.Node) *graph.Node {
		return graph.Slice(x, graph.AxisRange(), graph.AxisRange(from, to))
	})
}

// Part returns the indices that cut leaves of x, whose second axis is theirs.
func (s Set) Part(cut func(x *graph.Node) *graph.Node) Set {
	out := Set{dim: s.dim}
	if s.Vector != nil {
		out.Vector = cut(s.Vector)
	}
	if s.ID != nil {
		out.ID = cut(s.ID)
	}
	return out
}

// Split makes a set of steps * n indices for each run one of n indices for each of runs * steps; a set of every index
// is repeated.
func (s Set) Split(steps int) Set {
	cut := func(x *graph.Node) *graph.Node {
		if x == nil {
			return nil
		}
		dims := append([]int{}, x.Shape().Dimensions...)
		if s.Every {
			dims[0] *= steps
			return graph.BroadcastToDims(graph.Slice(x, graph.AxisElem(0)), dims...)
		}
		dims[0], dims[1] = dims[0]*steps, dims[1]/steps
		return graph.Reshape(x, dims...)
	}
	return Set{Vector: cut(s.Vector), ID: cut(s.ID), Every: s.Every, dim: s.dim}
}

// Len is the number of indices for each run.
func (s Set) Len() int {
	if s.ID != nil {
		return s.ID.Shape().Dim(1)
	}
	return s.Vector.Shape().Dim(1)
}

// dense is a^T z for indices and vectors of one length.
func dense(a *graph.Node, z Set) *graph.Node { return graph.Einsum("rnz,rbz->rnb", z.Dense(), a) }
