package index

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

func init() { testbackend.CompileQuickly() }

// frames draws sets of n vectors for runs with seeds 1, 2, ..., one vector after the other.
func frames(t *testing.T, name string, law Distribution, runs, sets, n int) [][]float64 {
	t.Helper()
	seeds := make([]uint64, runs)
	for i := range seeds {
		seeds[i] = uint64(i + 1)
	}
	flat := eval(t, name, func(in []*graph.Node) []*graph.Node {
		z := Frame(law, rng.New(in[0]), sets, n)
		if z.Len() != sets*n {
			t.Errorf("%+v: %d indices, want %d sets of %d", law, z.Len(), sets, n)
		}
		return []*graph.Node{z.Dense()}
	}, seeds)[0]
	var out [][]float64
	for v := range slices.Chunk(flat, law.Dim()) {
		wide := make([]float64, len(v))
		for i := range v {
			wide[i] = float64(v[i])
		}
		out = append(out, wide)
	}
	if len(out) != runs*sets*n {
		t.Fatalf("%+v: %d vectors, want %d", law, len(out), runs*sets*n)
	}
	return out
}

func dotted(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// part holds the length of a block, and the mean square of an entry, for a distribution.
func part(law Distribution) (dim int, second float64) {
	return FrameSize(law) / 2, law.Moments().Second
}

// In each set the mean is 0, z comes with -z, all vectors have the distribution's root mean square length, and n/2
// vectors are orthogonal in groups of a block's dimension. For a multiple of FrameSize, the second moments within a
// block equal the second moments of the distribution. Tolerances are a few roundings of single precision for numbers of about 5.
func TestFrameMoments(t *testing.T) {
	const runs, sets = 2, 3
	check := func(t *testing.T, name string, law Distribution, n int) {
		dim, second := part(law)
		vectors := frames(t, name, law, runs, sets, n)
		for set := range slices.Chunk(vectors, n) {
			for at := 0; at < law.Dim(); at += dim {
				block := make([][]float64, n)
				for i := range block {
					block[i] = set[i][at : at+dim]
				}
				for i := range dim {
					mean := 0.0
					for _, z := range block {
						mean += z[i] / float64(n)
					}
					if math.Abs(mean) > 1e-5 {
						t.Fatalf("%+v, n = %d: entry %d has mean %g, want 0", law, n, i, mean)
					}
					for j := range dim {
						c, want := 0.0, 0.0
						for _, z := range block {
							c += z[i] * z[j] / float64(n)
						}
						if i == j {
							want = second
						}
						if n%FrameSize(law) == 0 && math.Abs(c-want) > 1e-4*second {
							t.Fatalf("%+v, n = %d: E z_%d z_%d = %g, want %g", law, n, i, j, c, want)
						}
					}
				}
				for i := range n / 2 {
					if opposite := block[i+n/2]; math.Abs(dotted(block[i], opposite)+second*float64(dim)) > 1e-4*second*float64(dim) {
						t.Fatalf("%+v, n = %d: vector %v has the opposite %v", law, n, block[i], opposite)
					}
					for j := i / dim * dim; j < i; j++ {
						if d := dotted(block[i], block[j]); math.Abs(d) > 1e-4*second*float64(dim) {
							t.Fatalf("%+v, n = %d: vectors %d and %d of a group have product %g", law, n, i, j, d)
						}
					}
				}
			}
		}
	}
	for _, dim := range []int{1, 2, 3, 10, 30} {
		for _, law := range []Distribution{Gaussian{dim}, Sphere{dim}, PerArm{Arms: 2, M: dim}} {
			for _, n := range []int{2, 2 * dim, 4 * dim, 2*dim + 2} {
				check(t, backend.Go, law, n)
			}
		}
	}
	testbackend.ForEach(t, func(t *testing.T, name string) { check(t, name, Gaussian{10}, 40) })
}

// Two sets, of one run or of two, are independent, and so are the groups of a set and the blocks of two arms: the
// squared product of unit vectors from two of them has mean 1/N, over 500 runs within 5 standard errors of the sample.
// Equal frames would have 1 for equal positions.
func TestFramesAreIndependent(t *testing.T) {
	const runs, dim = 500, 6
	// Vectors 0..2*dim-1 of a set are two groups; their opposites follow.
	one := frames(t, backend.Go, Sphere{dim}, runs, 2, 4*dim)
	arms := frames(t, backend.Go, PerArm{Arms: 2, M: dim}, runs, 1, 2*dim)
	at := func(run, set, i int) []float64 { return one[(run*2+set)*4*dim+i] }
	for what, pair := range map[string]func(run int) (a, b []float64){
		"sets":   func(run int) (a, b []float64) { return at(run, 0, 0), at(run, 1, 0) },
		"groups": func(run int) (a, b []float64) { return at(run, 0, 0), at(run, 0, dim) },
		"runs":   func(run int) (a, b []float64) { return at(run, 0, 0), at((run+1)%runs, 0, 0) },
		"arms": func(run int) (a, b []float64) {
			z := arms[run*2*dim]
			return scaled(z[:dim], 1/math.Sqrt(dim)), scaled(z[dim:], 1/math.Sqrt(dim))
		},
	} {
		mean, square := 0.0, 0.0
		for run := range runs {
			a, b := pair(run)
			d := dotted(a, b) * dotted(a, b)
			mean, square = mean+d/runs, square+d*d/runs
		}
		if se := math.Sqrt((square - mean*mean) / runs); math.Abs(mean-1.0/dim) > 5*se {
			t.Errorf("%s: mean squared product %.4f +- %.4f, want %.4f", what, mean, se, 1.0/dim)
		}
	}
}

func scaled(v []float64, by float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = by * v[i]
	}
	return out
}

// The distribution of a vector should be nearly uniform. Entries of uniform vectors have E z^4 = 3 N/(N+2) for length
// sqrt(N). Entries of equal size would have 1, and vectors along the axes N. The bounds are slightly above the values
// that were measured with 1,000 frames: 2.462 of 2.5 for N = 10, and 2.808 of 2.8125 for N = 30.
func TestFramesAreNearlyUniform(t *testing.T) {
	for dim, bound := range map[int]float64{10: 0.03, 30: 0.01} {
		const runs = 1000
		moment := 0.0
		vectors := frames(t, backend.Go, Gaussian{dim}, runs, 1, 2*dim)
		for _, z := range vectors {
			for _, v := range z {
				moment += math.Pow(v, 4) / float64(dim*len(vectors))
			}
		}
		uniform := 3 * float64(dim) / float64(dim+2)
		if math.Abs(moment/uniform-1) > bound {
			t.Errorf("N = %d: E z^4 is %.4f, want nearly the uniform law's %.4f", dim, moment, uniform)
		}
	}
}

// Masks have the values 0 and 1/Keep. TestIndexMoments tests their mean and variance, with E z_i z_j = 1 for i != j.
// Bounds are 5 binomial standard errors of 40,000 masks.
func TestBernoulli(t *testing.T) {
	const n, keep = 40_000, 0.3
	law := Bernoulli{N: 3, Keep: keep}
	if m := law.Moments(); m.Mean != 1 || math.Abs(m.Second-1/keep) > 1e-12 {
		t.Errorf("moments %v and %v, want 1 and 1/%v", m.Mean, m.Second, keep)
	}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		z := eval(t, name, func(in []*graph.Node) []*graph.Node {
			return []*graph.Node{law.Sample(rng.New(in[0]),
				n).Dense()}
		}, []uint64{5})[0]
		var kept [3]float64
		var both float64
		for mask := range slices.Chunk(z, 3) {
			for i, v := range mask {
				if v != 0 && v != float32(1/keep) {
					t.Fatalf("a mask has the entry %v, want 0 or 1/Keep", v)
				}
				if v != 0 {
					kept[i]++
				}
			}
			if mask[0] != 0 && mask[2] != 0 {
				both++
			}
		}
		for i := range kept {
			if share := kept[i] / n; math.Abs(share-keep) > 5*math.Sqrt(keep*(1-keep)/n) {
				t.Errorf("unit %d is kept in a share %.4f of the masks", i, share)
			}
		}
		if share := both / n; math.Abs(share-keep*keep) > 5*math.Sqrt(keep*keep*(1-keep*keep)/n) {
			t.Errorf("two units are kept in %.4f of the masks, want %.4f", share, keep*keep)
		}
	})
}

// With Keep 1 nothing is masked, and a mask does not perturb responses: a^T z is 0 for every a.
func TestBernoulliEdges(t *testing.T) {
	out := eval(t, backend.Go, func(in []*graph.Node) []*graph.Node {
		law, s := Bernoulli{N: 2, Keep: 1}, rng.New(in[0])
		z := law.Sample(s, 3)
		return []*graph.Node{z.Dense(), law.Perturbation(s, 2), law.Dot(law.Perturbation(s, 2), z, nil)}
	}, []uint64{1, 2})
	if got := fmt.Sprint(out[0], out[1], out[2]); got != "[1 1 1 1 1 1 1 1 1 1 1 1] [0 0 0 0] [0 0 0 0 0 0 0 0 0 0 0 0]" {
		t.Error(got)
	}
}

// Slice takes positions of each run. Split turns the steps into runs, and repeats a set of every index: by hand for 2
// runs.
func TestSliceAndSplit(t *testing.T) {
	vectors := [][][]float32{{{1}, {2}, {3}, {4}}, {{5}, {6}, {7}, {8}}}
	ids := [][]int32{{0, 2, 1, 0}, {2, 2, 0, 1}}
	out := eval(t, backend.Go, func(in []*graph.Node) []*graph.Node {
		v, id, every := Vectors(in[0]), Set{ID: in[1], dim: 3}, OneHot{2}.All(in[0].Graph(), 2)
		split := every.Split(3)
		if split.Len() != 2 || !split.Every || v.Split(2).Len() != 2 || v.Slice(1, 4).Len() != 3 ||
			id.Slice(1, 2).Len() != 1 {
			t.Error("Split and Slice: got wrong numbers of indices")
		}
		if whole := every.Slice(0, 1); whole.Every {
			t.Error("a part of all indices has Every set")
		}
		return []*graph.Node{v.Slice(1, 3).Dense(), id.Slice(1, 2).Dense(), v.Split(2).Dense(), id.Split(2).Dense(),
			split.Dense()}
	}, vectors, ids)
	for i, want := range []string{
		"[2 3 6 7]", "[0 0 1 0 0 1]", "[1 2 3 4 5 6 7 8]",
		"[1 0 0 0 0 1 0 1 0 1 0 0 0 0 1 0 0 1 1 0 0 0 1 0]", // the same order, now for 4 runs of 2 indices
		"[1 0 0 1 1 0 0 1 1 0 0 1 1 0 0 1 1 0 0 1 1 0 0 1]", // 6 runs of both
	} {
		if got := fmt.Sprint(out[i]); got != want {
			t.Errorf("output %d: %s, want %s", i, got, want)
		}
	}
}
