package hyper

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// The initializers' distributions have the right second and fourth moments and range, by 40,000 draws. The standard
// error of a mean square is sqrt((m4 - m2^2)/n). The standard error of a mean fourth power is below 4 m2^2/sqrt(n) for
// all these distributions but the normal one.
func TestInitializers(t *testing.T) {
	const n, fanIn, fanOut = 40_000, 5, 19
	// A standard normal number truncated at c = 2 standard deviations has variance 1 - 2c phi(c)/Z and fourth moment 3
	// var - 2c^3 phi(c)/Z, where phi(2) = 0.053990967 and Z = erf(2/sqrt 2) = 0.954499736, by integration by parts.
	const tail = 2 * 0.053990967 / 0.954499736
	const truncated2, truncated4 = 1 - 2*tail, 3*(1-2*tail) - 8*tail
	limit := math.Sqrt(6.0 / (fanIn + fanOut)) // Glorot and Bengio 2010, equation 16: 0.5 here
	for name, c := range map[string]struct {
		init           Initializer
		m2, m4, bound  float64
		reaches, error float64 // as shares of the bound, and of m2^2/sqrt(n) for the fourth moment
	}{
		"normal":           {InitNormal(0.05), 0.0025, 3 * 0.0025 * 0.0025, 0.3, 0.7, math.Sqrt(96)},
		"truncated normal": {InitTruncatedNormal(0.05), 0.0025 * truncated2, 0.0025 * 0.0025 * truncated4, 0.1, 0.99, 4},
		"Glorot":           {InitGlorotUniform, limit * limit / 3, math.Pow(limit, 4) / 5, limit, 0.999, 4},
	} {
		testbackend.ForEach(t, func(t *testing.T, backend string) {
			out := eval(t, backend, func(in []*Node) []*Node {
				return []*Node{c.init(rng.New(in[0]), fanIn, fanOut, n)}
			}, []uint64{17})[0]
			var m1, m2, m4, largest float64
			for _, v := range out {
				m1, m2, m4, largest = m1+v/n, m2+v*v/n, m4+v*v*v*v/n, max(largest, math.Abs(v))
			}
			if math.Abs(m1) > 5*math.Sqrt(c.m2/n) {
				t.Errorf("%s: got mean %.5f, want 0", name, m1)
			}
			if math.Abs(m2-c.m2) > 5*math.Sqrt((c.m4-c.m2*c.m2)/n) {
				t.Errorf("%s: variance %.6f, want %.6f", name, m2, c.m2)
			}
			if math.Abs(m4-c.m4) > 5*c.error*c.m2*c.m2/math.Sqrt(n) {
				t.Errorf("%s: fourth moment %.3g, want %.3g", name, m4, c.m4)
			}
			if largest > c.bound*(1+1e-6) || largest < c.reaches*c.bound {
				t.Errorf("%s: the largest number is %.4f, want nearly the bound %.4f", name, largest, c.bound)
			}
		})
	}
}

// InitConstant sets every number of every run to x, also as the mu of a linear hypermodel and as the particles of an
// ensemble. C is still drawn.
func TestInitConstant(t *testing.T) {
	for _, x := range []float64{0, 0.02, -3} {
		out := eval(t, backend.Go, func(in []*Node) []*Node {
			s := rng.New(in[0])
			nu := Linear{Layout: Dense(3, 2), P: index.Gaussian{N: 2}, InitC: InitNormal(1), InitM: InitConstant(x)}.Init(s)
			particles := Ensemble{Particles: 5, Params: 3, InitNu: InitConstant(x)}.Init(s)
			return []*Node{InitConstant(x)(s, 7, 8, 4, 3), nu[0], particles[0], nu[1]}
		}, []uint64{1, 2})
		for i, size := range []int{4 * 3, 3, 5 * 3} {
			same(t, fmt.Sprint(x, ", node ", i), out[i], slices.Repeat([]float64{float64(float32(x))}, 2*size), 0)
		}
		if slices.Contains(out[3], x) {
			t.Errorf("C is constant: %v", out[3])
		}
	}
}

// InitOneHot makes every particle of an ensemble a one-hot vector, each with the same probability: each of the 4
// vectors is drawn about 1,000 times for 4,000 particles, with a standard deviation of 27.
func TestInitOneHot(t *testing.T) {
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		return Ensemble{Particles: 2000, Params: 4, InitNu: InitOneHot}.Init(rng.New(in[0]))
	}, []uint64{1, 2})
	counts := make([]float64, 4)
	for particle := range slices.Chunk(out[0], 4) {
		i := slices.Index(particle, 1)
		if i < 0 || particle[0]+particle[1]+particle[2]+particle[3] != 1 {
			t.Fatalf("a particle is %v, want a one-hot vector", particle)
		}
		counts[i]++
	}
	same(t, "particles at each", counts, []float64{1000, 1000, 1000, 1000}, 140)
}

// A hypermodel passes the fans of its linear maps to the initializer. C maps Width to N_theta numbers, and a layer of a
// network maps in to out numbers; each particle is drawn separately. mu and biases start at 0.
func TestInitialParametersHaveTheRightFans(t *testing.T) {
	var got [][2]int
	spy := func(s rng.Stream, fanIn, fanOut int, dims ...int) *Node {
		got = append(got, [2]int{fanIn, fanOut})
		return InitNormal(1)(s, fanIn, fanOut, dims...)
	}
	out := eval(t, backend.Go, func(in []*Node) (out []*Node) {
		s := rng.New(in[0])
		linear := Linear{Layout: PerParameter(300, 2), P: index.Gaussian{N: 600}, InitC: spy}.Init(s)
		network := Network{P: index.Gaussian{N: 3}, Hidden: []int{4}, Params: 5, InitW: spy}.Init(s)
		return append(linear, network...)
	}, []uint64{1, 2})
	if want := [][2]int{{2, 300}, {3, 4}, {4, 5}}; !slices.Equal(got, want) {
		t.Errorf("fans %v, want %v", got, want)
	}
	for _, i := range []int{0, 3, 5} { // mu, and the network's biases
		same(t, fmt.Sprint("node ", i), out[i], make([]float64, len(out[i])), 0)
	}
	if slices.Equal(out[1][:600], out[1][600:]) {
		t.Error("two runs have the same C")
	}
}

// Section 2.5: a row of B is a unit vector with RowsSphere, and has independent N(0, 1) entries with RowsGaussian. D
// and the scale of a run multiply rows. Mean squares of 3 * 2000 entries are good to sqrt(2/6000) = 1.8%.
func TestPriorRows(t *testing.T) {
	const rows, width = 3, 2000
	sd := []float64{1, 2, 0.5}
	out := eval(t, backend.Go, func(in []*Node) (out []*Node) {
		for _, law := range []RowLaw{RowsSphere, RowsGaussian, 0} {
			p := Prior{Layout: Dense(rows, width), Rows: law, StdDev: sd}
			out = append(out, p.Init(rng.New(in[0]), in[1]))
		}
		return append(out, Prior{Layout: Dense(rows, width)}.Init(rng.New(in[0]), nil))
	}, []uint64{1, 2}, []float32{1, 3})
	for run, scale := range []float64{1, 3} {
		for i := range rows {
			norms := make([]float64, len(out))
			for k := range out {
				for _, v := range out[k][(run*rows+i)*width:][:width] {
					norms[k] += v * v
				}
			}
			want := math.Pow(scale*sd[i], 2)
			same(t, "|row|^2 on the sphere", []float64{norms[0], norms[2], norms[3]}, []float64{want, want, 1}, 1e-5)
			if ratio := norms[1] / width / want; math.Abs(ratio-1) > 5*math.Sqrt(2.0/width) {
				t.Errorf("Gaussian rows: the mean square is %.3f times the right one", ratio)
			}
		}
	}
}

// NumInvolved is n_params of section 4.1: all of mu and C for a linear hypermodel, and one particle for an ensemble.
func TestNumInvolved(t *testing.T) {
	for want, h := range map[int]Hypermodel{
		3 * 11:            Linear{Layout: PerParameter(3, 10), P: index.PerArm{Arms: 3, M: 10}},
		3*10 + 5:          Linear{Layout: Dense(5, 6), P: index.Gaussian{N: 6}},
		7:                 Ensemble{Particles: 100, Params: 7},
		4*(3+1) + 5*(4+1): Network{P: index.Gaussian{N: 3}, Hidden: []int{4}, Params: 5},
	} {
		if got := h.NumInvolved(); got != want {
			t.Errorf("%v involves %d parameters, want %d", h, got, want)
		}
	}
}
