package index

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Over 40,000 draws the vectors of each law have E a a^T = I/6, E z z^T = I and mean 0, and all except Gaussian ones
// have exactly their length. The variance of a square is largest for coordinates, where z_i^2 is 6 with probability
// 1/6: it is 5, so that 5 standard errors are below 0.056 for z; for means they are 0.025.
func TestLaws(t *testing.T) {
	const n, dim = 40_000, 6
	for _, law := range enum.All[Law]() {
		d := Paired{N: dim, Reference: law, Noise: law, Nonzero: 2}
		testbackend.ForEach(t, func(t *testing.T, name string) {
			out := eval(t, name, func(in []*graph.Node) []*graph.Node {
				s := rng.New(in[0])
				return []*graph.Node{d.Sample(s.Named("z"), n).Dense(), d.Perturbation(s.Named("a"), n)}
			}, []uint64{3})
			for k, length := range []float64{math.Sqrt(dim), 1} {
				checkLaw(t, law, out[k], length, dim)
			}
		})
	}
}

func checkLaw(t *testing.T, law Law, vectors []float32, length float64, dim int) {
	t.Helper()
	n, square := float64(len(vectors)/dim), length*length/float64(dim)
	mean, second := make([]float64, dim), make([]float64, dim*dim)
	for at := 0; at < len(vectors); at += dim {
		v, norm2 := vectors[at:at+dim], 0.0
		for i, x := range v {
			norm2 += float64(x) * float64(x)
			mean[i] += float64(x) / n
			for j, y := range v {
				second[i*dim+j] += float64(x) * float64(y) / n
			}
		}
		if law != LawGaussian && math.Abs(norm2-length*length) > 1e-4 {
			t.Fatalf("%v: %v has length %v, want %v", law, v, math.Sqrt(norm2), length)
		}
	}
	for i := range dim {
		if math.Abs(mean[i]) > 0.025*math.Sqrt(square) {
			t.Errorf("%v: E z_%d is %v, want 0", law, i, mean[i])
		}
		for j := range dim {
			want := 0.0
			if i == j {
				want = square
			}
			if math.Abs(second[i*dim+j]-want) > 0.056*square {
				t.Errorf("%v: E z_%d z_%d = %v, want %v", law, i, j, second[i*dim+j], want)
			}
		}
	}
}

// A Gaussian reference with perturbations on a sphere equals Gaussian: the draws are the same.
func TestPairedIsGaussian(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		out := eval(t, name, func(in []*graph.Node) []*graph.Node {
			s := rng.New(in[0])
			p, g := Paired{N: 5, Reference: LawGaussian, Noise: LawSphere}, Gaussian{5}
			return []*graph.Node{p.Sample(s, 3).Dense(), g.Sample(s, 3).Dense(), p.Perturbation(s, 3), g.Perturbation(s, 3)}
		}, []uint64{3, 4})
		if fmt.Sprint(out[0]) != fmt.Sprint(out[1]) || fmt.Sprint(out[2]) != fmt.Sprint(out[3]) {
			t.Error(out)
		}
	})
}

func TestPairedValidates(t *testing.T) {
	for want, d := range map[string]Paired{
		"N must be at least 1, got 0":                     {Reference: LawCube, Noise: LawCube},
		"Noise must be a law":                             {N: 2, Reference: LawCube},
		"Reference: unknown 9; choose gaussian, sphere":   {N: 2, Reference: 9, Noise: LawCube},
		"Nonzero must be a divisor of N for sparse vecto": {N: 4, Reference: LawCube, Noise: LawSparse, Nonzero: 3},
	} {
		if err := Validate(d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", d, err, want)
		}
	}
}

// Ensemble sampling with four signed particles: z is plus or minus 2 e_i, and the perturbation of a datum is 1/2 or
// -1/2 times sigma_w for all four.
func ExamplePaired() {
	d := Paired{N: 4, Reference: LawCoordinate, Noise: LawCube}
	fmt.Println(d.Reference, d.Noise, d.Moments().Second, Validate(d))
	// Output: coordinate cube 1 <nil>
}
