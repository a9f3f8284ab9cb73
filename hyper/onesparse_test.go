package hyper

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Theta equals the formula of section 5, g_nu(z)_m proportional to exp(beta nu_m (z_m^2 + alpha)), in double precision.
// There are two runs, each with its own nu and indices; some exponents are about a thousand, and do not overflow. For
// exponents up to 100 roundings are about 1e-5.
func TestOneSparseTheta(t *testing.T) {
	const runs, n, components = 2, 50, 5
	for _, h := range []OneSparse{{components, 0.01, 10}, {components, 0, 0.5}, {components, 3, 2}} {
		r := rand.New(rand.NewPCG(8, 9))
		nu, z := random(r, runs, components), random(r, runs, n, components)
		out := eval(t, backend.Go, func(in []*Node) []*Node {
			return []*Node{h.Theta(in[:1], index.Vectors(in[1])), in[0], in[1]}
		}, nu, z)
		var want []float64
		for run := range runs {
			for i := range n {
				theta, sum := make([]float64, components), 0.0
				for m := range theta {
					zm := out[2][(run*n+i)*components+m]
					theta[m] = math.Exp(h.Beta * out[1][run*components+m] * (zm*zm + h.Alpha))
					sum += theta[m]
				}
				for _, v := range theta {
					want = append(want, v/sum)
				}
			}
		}
		same(t, fmt.Sprintf("%+v", h), out[0], want, 1e-5)
		for theta := range slices.Chunk(out[0], components) {
			sum := 0.0
			for _, v := range theta {
				sum += v
			}
			if !(math.Abs(sum-1) < 1e-6) || slices.Min(theta) < 0 {
				t.Errorf("got theta %v with sum %v, want 1", theta, sum)
			}
		}
	}
	// For z = (10, 3) the exponents are 1000.1 and 90.1.
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		return []*Node{OneSparse{2, 0.01, 10}.Theta(in[:1], index.Vectors(in[1]))}
	}, [][]float32{{1, 1}}, [][][]float32{{{10, 3}}})
	same(t, "large exponents", out[0], []float64{1, 0}, 0)
}

// nu starts at ones, where all components have the same distribution: each has mean 1/N, within 5 standard errors for
// 20,000 indices, and the same second moment. To lower nu_m is to rule out component m: at nu_m = 0 its exponent in the
// softmax is 0, against the largest beta (z^2 + alpha) of the others.
func TestOneSparseAtTheStart(t *testing.T) {
	const n, components = 20_000, 8
	h := OneSparse{N: components, Alpha: 0.01, Beta: 10}
	if h.NumTheta() != components || h.NumInvolved() != components || h.Index() != (index.Gaussian{N: components}) {
		t.Errorf("got %d parameters of theta, %d involved, index %v", h.NumTheta(), h.NumInvolved(), h.Index())
	}
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		s := rng.New(in[0])
		nu, z := h.Init(s.Named("init")), h.Index().Sample(s, n)
		lowered := []*Node{Mul(nu[0], in[1])}
		return append(nu, h.Theta(nu, z), h.Theta(lowered, z))
	}, []uint64{4}, [][]float32{{1, 1, 0, 1, 1, 1, 1, 1}})
	same(t, "nu", out[0], slices.Repeat([]float64{1}, components), 0)
	for m := range components {
		mean, square := 0.0, 0.0
		for i := range n {
			v := out[1][i*components+m]
			mean, square = mean+v/n, square+v*v/n
		}
		if se := math.Sqrt((square - mean*mean) / n); math.Abs(mean-1.0/components) > 5*se {
			t.Errorf("component %d has mean %.4f +- %.4f, want 1/%d", m, mean, se, components)
		}
		if square < 0.5/components { // nearly one-hot: 1/N for one-hot functions, 1/N^2 for constant ones
			t.Errorf("component %d has mean square %.4f, want at least 1/(2N)", m, square)
		}
	}
	// The bound is 1e-3 on average. The sum of exponentials is at least exp(10 z^2) for the largest of seven |z|, whose
	// median is about 1.7.
	ruledOut := 0.0
	for i := range n {
		ruledOut += out[2][i*components+2] / n
	}
	if ruledOut > 1e-3 {
		t.Errorf("component with nu_m = 0: got mean %.2g, want at most 1e-3", ruledOut)
	}
}

// Validate reports all faults together. A model also needs a base model with the length of theta.
func TestOneSparseValidate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		h    OneSparse
		want []string
	}{
		{OneSparse{3, 0.01, 10}, nil},
		{OneSparse{1, 0, 1}, nil},
		{OneSparse{0, 0.01, 10}, []string{"N must be at least 1, got 0"}},
		{OneSparse{3, -0.5, 10}, []string{"Alpha must be finite and not negative, got -0.5"}},
		{OneSparse{3, inf, 10}, []string{"Alpha must"}},
		{OneSparse{3, nan, 10}, []string{"Alpha must"}},
		{OneSparse{3, 0, 0}, []string{"Beta must be positive and finite, got 0"}},
		{OneSparse{3, 0, inf}, []string{"Beta must"}},
		{OneSparse{-1, nan, nan}, []string{"got -1", "Alpha must", "Beta must"}},
	} {
		err := c.h.Validate()
		if (err == nil) != (c.want == nil) {
			t.Errorf("%+v: error %v, want %q", c.h, err, c.want)
		}
		for _, want := range c.want {
			if err == nil || strings.Count(err.Error(), want) != 1 || strings.Count(err.Error(), "\n") != len(c.want)-1 {
				t.Errorf("%+v: error %v, want %q", c.h, err, want)
			}
		}
	}
	for features, want := range map[int]string{3: "", 4: "makes 3 parameters, but the base model has 4"} {
		err := (Model{Base: base.Linear{Features: features}, Hyper: OneSparse{3, 0.01, 10}}).Validate()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d features: error %v, want %q", features, err, want)
		}
	}
	if err := (Model{Base: base.Linear{Features: 3}, Hyper: OneSparse{3, 0.01, 0}}).Validate(); err == nil || !strings.Contains(err.Error(), "Beta") {
		t.Errorf("model with beta = 0: got error %v", err)
	}
}

// Two components, computed by hand: for nu = 1 and z = (1, 0), with beta = 2 and alpha = 0, the first component is
// exp(2)/(exp(2) + 1) = 0.881.
func ExampleOneSparse() {
	b, err := backend.Open(backend.Go)
	if err != nil {
		fmt.Println(err)
		return
	}
	theta, err := CallOnce(b, func(nu, z *Node) *Node {
		return OneSparse{N: 2, Beta: 2}.Theta([]*Node{nu}, index.Vectors(z))
	}, [][]float32{{1, 1}}, [][][]float32{{{1, 0}, {-1, 1}}})
	fmt.Printf("%.3f %v\n", theta.Value(), err)
	// Output: [[[0.881 0.119] [0.500 0.500]]] <nil>
}
