// Package index holds the reference distributions p_z of section 2: the distributions of the index z, and of the
// vectors A_t that perturb the data (section 2.1).
//
// Axes of arrays: a set of n indices for each run is [runs, n, N_z]; the vectors A of a batch of data are [runs,
// inputs, width].
package index

import (
	"slices"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Distribution is a reference distribution p_z, together with its distribution of A_t. An implementation is a small
// comparable value.
type Distribution interface {
	// Dim returns N_z, the length of an index.
	Dim() int
	// Sample draws n independent indices for each run.
	Sample(s rng.Stream, n int) Set
	// Moments returns the known moments of the distribution.
	Moments() Moments

	// Width returns the length of A_t.
	Width() int
	// Perturbation draws A for n data points of each run: [runs, n, Width].
	Perturbation(s rng.Stream, n int) *graph.Node
	// Dot returns a^T z for each index and data point, [runs, indices, inputs]. a is [runs, inputs, Width]. x is the
	// inputs of the data points. It is read only if the index has a block for each arm: x is then the arms, int32
	// [runs, inputs, 1].
	Dot(a *graph.Node, z Set, x *graph.Node) *graph.Node
}

// Moments holds the moments of a distribution that training uses. E z_i z_j is 0 for i != j, except for Bernoulli,
// where it is 1.
type Moments struct {
	Mean, Second float64 // E z_i and E z_i^2
	// Pairs is E z_i^2 z_j^2 / E z_i^2 for i != j, if the distribution, or each of its blocks, is invariant under
	// rotations. It is 0 for other distributions.
	Pairs  float64
	Normal bool // whether the z_i are independent N(0, 1)
	// Blocks is the number of independent blocks of Width numbers, one for each arm, if the perturbation of a datum
	// uses only the block of its arm. It is 0 if the perturbation uses the whole index.
	Blocks int
}

// Enumerable is a distribution whose indices are the vectors of the standard basis, all equally likely. The expectation
// over z is the mean over these vectors. Its sets have an ID.
type Enumerable interface {
	Distribution
	// All returns every index once, for each of the given number of runs.
	All(g *graph.Graph, runs int) Set
}

// Set is a set of n indices for each run, as [Distribution.Sample] draws it.
type Set struct {
	// Vector holds the indices as vectors, [runs, n, N_z]. It is nil if ID is set.
	Vector *graph.Node
	// ID holds one-hot indices as the positions of their ones, int32 [runs, n]. It is nil for other distributions.
	ID *graph.Node
	// Every reports whether a one-hot set has each index once, in order.
	Every bool
	dim   int
}

// Vectors makes a set of the given vectors, [runs, n, N_z].
func Vectors(z *graph.Node) Set { return Set{Vector: z, dim: z.Shape().Dim(2)} }

// IDs makes a set of one-hot indices of d. id holds the positions of their ones, int32 [runs, n].
func IDs(d Enumerable, id *graph.Node) Set { return Set{ID: id, dim: d.Dim()} }

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

// Part returns the set that cut makes of the indices. cut gets an array x whose second axis is the indices, and returns
// the part of x to keep.
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

// Split turns a set of steps * n indices for each run into a set of n indices for each of runs * steps runs. It repeats
// a set that has every index.
func (s Set) Split(steps int) Set {
	out := s.Part(func(x *graph.Node) *graph.Node {
		dims := slices.Clone(x.Shape().Dimensions)
		if s.Every {
			dims[0] *= steps
			return graph.BroadcastToDims(graph.Slice(x, graph.AxisElem(0)), dims...)
		}
		dims[0], dims[1] = dims[0]*steps, dims[1]/steps
		return graph.Reshape(x, dims...)
	})
	out.Every = s.Every
	return out
}

// Len returns the number of indices of each run.
func (s Set) Len() int {
	if s.ID != nil {
		return s.ID.Shape().Dim(1)
	}
	return s.Vector.Shape().Dim(1)
}

// dense returns a^T z for indices and vectors of the same length.
func dense(a *graph.Node, z Set) *graph.Node { return graph.Einsum("rnz,rbz->rnb", z.Dense(), a) }
