package index

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper/rng"
)

// eval runs a graph function once.
var eval = testbackend.Eval[float32]

var laws = []Distribution{Gaussian{4}, Sphere{4}, OneHot{4}, PerArm{Arms: 2, M: 3}, Scaled{4, 0.5}}

// The first two moments of an index agree with Moments. Products of different components have mean 0, except that
// one-hot vectors have the product of means 0. Bounds are 5 standard errors of 40,000 draws; entries of these
// distributions have E z^4 <= 3.
func TestIndexMoments(t *testing.T) {
	const n = 40_000
	for _, law := range laws {
		testbackend.ForEach(t, func(t *testing.T, name string) {
			z := eval(t, name, func(in []*graph.Node) []*graph.Node {
				return []*graph.Node{law.Sample(rng.New(in[0]),
					n).Dense()}
			}, []uint64{3})[0]
			d := law.Dim()
			mean, second := law.Moments().Mean, law.Moments().Second
			for i := range d {
				m := 0.0
				for at := 0; at < len(z); at += d {
					m += float64(z[at+i]) / n
				}
				if math.Abs(m-mean) > 5*math.Sqrt(second/n) {
					t.Errorf("%v: E z_%d = %.4f, want %.4f", law, i, m, mean)
				}
				for j := range i + 1 {
					c, want := 0.0, 0.0
					for at := 0; at < len(z); at += d {
						c += float64(z[at+i]) * float64(z[at+j]) / n
					}
					if i == j {
						want = second
					}
					if math.Abs(c-want) > 5*math.Sqrt(3.0/n)*math.Max(second, 0.3) {
						t.Errorf("%v: E z_%d z_%d = %.4f, want %.4f", law, i, j, c, want)
					}
				}
			}
		})
	}
}

// Indices on the sphere have length 1, one-hot indices have a single 1, and vectors A for Gaussian indices have length
// 1.
func TestLengths(t *testing.T) {
	const n = 500
	testbackend.ForEach(t, func(t *testing.T, name string) {
		out := eval(t, name, func(in []*graph.Node) []*graph.Node {
			s := rng.New(in[0])
			return []*graph.Node{Sphere{5}.Sample(s, n).Dense(), OneHot{5}.Sample(s, n).Dense(), Gaussian{5}.Perturbation(s, n),
				PerArm{3, 5}.Perturbation(s, n)}
		}, []uint64{4, 5})
		for k, v := range out {
			if len(v) != 2*n*5 {
				t.Fatalf("output %d has %d numbers, want one vector of 5 for each draw", k, len(v))
			}
			for at := 0; at < len(v); at += 5 {
				norm, largest := 0.0, 0.0
				for _, x := range v[at : at+5] {
					norm, largest = norm+float64(x)*float64(x), max(largest, float64(x))
				}
				if math.Abs(norm-1) > 1e-5 || k == 1 && largest != 1 {
					t.Fatalf("output %d: got vector %v, want length 1", k, v[at:at+5])
				}
			}
		}
	})
}

// Section 2.1: sigma_w a^T z is a Gaussian perturbation of the response. a^T z is N(0, 1), given the one of a and z
// that lies on the unit sphere (or is one-hot), for each data point of each arm: its mean, mean square and fourth
// moment are 0, 1 and 3, within 5 standard errors (1, sqrt 2 and sqrt 96, divided by sqrt n).
func TestPerturbationsAreStandardNormal(t *testing.T) {
	const n = 40_000
	for _, law := range laws {
		testbackend.ForEach(t, func(t *testing.T, name string) {
			out := eval(t, name, func(in []*graph.Node) []*graph.Node {
				s := rng.New(in[0])
				indices, data := n, 1 // given a: many z
				switch law.(type) {
				case Sphere, OneHot:
					indices, data = 1, n // given z: many a
				}
				z, a := law.Sample(s.Named("z"), indices), law.Perturbation(s.Named("a"), data)
				x := s.Named("x").Intn(graph.Const(s.Graph(), int32(2)), data, 1)
				return []*graph.Node{law.Dot(a, z, x)}
			}, []uint64{6})[0]
			if len(out) != n {
				t.Fatalf("%v: got %d numbers, want one for each draw", law, len(out))
			}
			for k, want := range map[int]float64{1: 0, 2: 1, 4: 3} {
				m := 0.0
				for _, v := range out {
					m += math.Pow(float64(v), float64(k)) / n
				}
				if sd := map[int]float64{1: 1, 2: math.Sqrt2, 4: math.Sqrt(96)}[k]; math.Abs(m-want) > 5*sd/math.Sqrt(n) {
					t.Errorf("%v: E (a^T z)^%d = %.3f, want %v", law, k, m, want)
				}
			}
		})
	}
}

// Dot is a^T z in plain Go, with the block z_x of the datum's arm for an index per arm.
func TestDot(t *testing.T) {
	const runs, indices, data = 2, 3, 4
	r := rand.New(rand.NewPCG(1, 2))
	arms := make([]int32, runs*data)
	for i := range arms {
		arms[i] = int32(r.IntN(2))
	}
	for _, law := range laws {
		testbackend.ForEach(t, func(t *testing.T, name string) {
			out := eval(t, name, func(in []*graph.Node) []*graph.Node {
				s := rng.New(in[0])
				z, a := law.Sample(s.Named("z"), indices), law.Perturbation(s.Named("a"), data)
				return []*graph.Node{law.Dot(a, z, in[1]), z.Dense(), a}
			}, []uint64{7, 8}, tensors.FromFlatDataAndDimensions(arms, runs, data, 1))
			got, z, a, width := out[0], out[1], out[2], law.Width()
			for i := range got {
				run, index, datum := i/(indices*data), i/data%indices, i%data
				from := 0
				if _, ok := law.(PerArm); ok {
					from = width * int(arms[run*data+datum])
				}
				want := 0.0
				for j := range width {
					want += float64(a[(run*data+datum)*width+j]) * float64(z[(run*indices+index)*law.Dim()+from+j])
				}
				if math.Abs(float64(got[i])-want) > 1e-5 {
					t.Errorf("%v: a^T z of index %d and datum %d of run %d is %g, want %g",
						law, index, datum, run, got[i], want)
				}
			}
		})
	}
}

// All returns each one-hot vector once, in order, for each run. The share of each particle in a sample is 1/N.
func TestOneHotAll(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		out := eval(t, name, func(in []*graph.Node) []*graph.Node {
			all := OneHot{3}.All(in[0].Graph(), 2)
			if all.Len() != 3 || !all.Every {
				t.Errorf("all particles: got %d indices, Every %v, want 3 and true", all.Len(), all.Every)
			}
			return []*graph.Node{all.Dense()}
		}, float32(0))[0]
		if got := fmt.Sprint(out); got != "[1 0 0 0 1 0 0 0 1 1 0 0 0 1 0 0 0 1]" {
			t.Error(got)
		}
	})
}

// An ensemble of 4 particles has four equally likely indices: E z_i = 1/4.
func ExampleOneHot_Moments() {
	fmt.Println(OneHot{N: 4}.Moments().Mean)
	// Output: 0.25
}

// The index of 20 arms with m = 10 has length 200. A vector A_t has the length of one block.
func ExamplePerArm() {
	d := PerArm{Arms: 20, M: 10}
	fmt.Println(d.Dim(), d.Width())
	// Output: 200 10
}

// An index of three standard normal numbers.
func ExampleGaussian() {
	d := Gaussian{N: 3}
	m := d.Moments()
	fmt.Println(d.Dim(), d.Width(), m.Mean, m.Second, Validate(d))
	// Output: 3 3 0 1 <nil>
}

// A point on the unit sphere in four dimensions: E z_i^2 is 1/4.
func ExampleSphere() {
	d := Sphere{N: 4}
	m := d.Moments()
	fmt.Println(d.Dim(), m.Mean, m.Second, Validate(d))
	// Output: 4 0 0.25 <nil>
}

// A mask of ten units. Each unit stays with probability 0.8 and is then multiplied by 1.25.
func ExampleBernoulli() {
	d := Bernoulli{N: 10, Keep: 0.8}
	m := d.Moments()
	fmt.Println(d.Dim(), m.Mean, m.Second, Validate(d))
	// Output: 10 1 1.25 <nil>
}
