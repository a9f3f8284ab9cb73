package hyper

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// The components of theta have mean mu, deviation softplus(rho) and no correlation. The test uses 20,000 indices, and
// bounds of 5 standard errors (sd/sqrt(n), sd/sqrt(2n), sd sd'/sqrt(n)). Tiny and large rho do not underflow or
// overflow.
func TestMeanField(t *testing.T) {
	const n = 20_000
	h := MeanField{Params: 3}
	mu, rho := [][]float32{{1, -2, 0.5}}, [][]float32{{-20, 0.5, 200}}
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		mean, sd := h.Gaussian(in[:2])
		return []*Node{h.Theta(in[:2], h.Index().Sample(rng.New(in[2]), n)), mean, sd}
	}, mu, rho, []uint64{3})
	sd := []float64{math.Log1p(math.Exp(-20)), math.Log1p(math.Exp(0.5)), 200} // log(1 + e^200) is 200 to 1e-87
	for i, want := range sd {
		if got := out[2][i]; math.Abs(got/want-1) > 1e-6 || out[1][i] != float64(mu[0][i]) {
			t.Errorf("component %d has mean %g and deviation %g, want %g and %g", i, out[1][i], got, mu[0][i], want)
		}
	}
	for i := range 3 {
		for j := range i + 1 {
			mean, both := 0.0, 0.0
			for at := 0; at < len(out[0]); at += 3 {
				u := out[0][at+i] - float64(mu[0][i])
				mean, both = mean+u/n, both+u*(out[0][at+j]-float64(mu[0][j]))/n
			}
			want, bound := 0.0, 5*sd[i]*sd[j]/math.Sqrt(n)
			if i == j {
				want, bound = sd[i]*sd[i], bound*math.Sqrt2
			}
			if math.Abs(mean) > 5*sd[i]/math.Sqrt(n)+1e-7 || math.Abs(both-want) > bound+1e-14 {
				t.Errorf("components %d and %d: mean %g, product %g, want 0 and %g", i, j, mean, both, want)
			}
		}
	}
}

// Init gives every parameter the requested deviation, 0.05 by default, and gives mu the distribution of its
// initializer.
func TestMeanFieldInit(t *testing.T) {
	for given, want := range map[float64]float64{0: 0.05, 0.2: 0.2, 3: 3} {
		h := MeanField{Params: 2000, Deviation: given}
		out := eval(t, backend.Go, func(in []*Node) []*Node {
			mu, sd := h.Gaussian(h.Init(rng.New(in[0])))
			return []*Node{mu, sd}
		}, []uint64{1})
		same(t, fmt.Sprint("deviation ", given), out[1], slices.Repeat([]float64{want}, 2000), 1e-5)
		square := 0.0
		for _, v := range out[0] {
			square += v * v / 2000
		}
		if math.Abs(square/0.0025-1) > 5*math.Sqrt(2.0/2000) { // N(0, 0.05^2); a mean square is good to sqrt(2/n)
			t.Errorf("mu has mean square %g, want 0.0025", square)
		}
	}
	if h := (MeanField{Params: 7}); h.NumTheta() != 7 || h.NumInvolved() != 14 {
		t.Errorf("got %d parameters of theta and %d involved, want 7 and 14", h.NumTheta(), h.NumInvolved())
	}
}

// One index is one thinned network. To mask the weights equals, in plain Go, to mask the activations of the hidden
// units, with the same mask for every input. The masks remove some units, and differ between indices.
func TestDropoutMasksUnits(t *testing.T) {
	const indices = 4
	wide := base.MLP{Layers: []int{2, 5, 3, 1}}
	h := Dropout{Net: wide, Keep: 0.5}
	m := Model{Base: wide, Hyper: h}
	must.M(m.Validate())
	r := rand.New(rand.NewPCG(1, 1))
	nu, x := random(r, runs, h.NumTheta()), random(r, runs, inputs, 2)
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		z := h.Index().Sample(rng.New(in[2]), indices)
		return []*Node{m.Predict(Params{Nu: in[:1]}, z, in[1]), z.Dense(), in[0], in[1]}
	}, nu, x, []uint64{5, 6})
	got, masks, weights, at := out[0], out[1], out[2], out[3]
	var want []float64
	for run := range runs {
		for i := range indices {
			mask := masks[(run*indices+i)*8:][:8]
			for j := range inputs {
				want = append(want, thinned(wide.Layers, weights[run*h.NumTheta():][:h.NumTheta()], mask,
					at[(run*inputs+j)*2:][:2]))
			}
		}
	}
	same(t, "predictions", got, want, single)
	if !slices.Contains(masks, 0) || slices.Equal(masks[:8], masks[8:16]) {
		t.Errorf("got masks %v, want different masks, with zeros", masks)
	}
}

// thinned returns the output at x of a ReLU network whose hidden activations are multiplied by a mask.
func thinned(layers []int, theta, mask, x []float64) float64 {
	for l := range len(layers) - 1 {
		in, out := layers[l], layers[l+1]
		y := make([]float64, out)
		for o := range y {
			y[o] = theta[in*out+o]
			for i := range in {
				y[o] += theta[o*in+i] * x[i]
			}
			if l < len(layers)-2 {
				y[o] = max(y[o], 0) * mask[o]
			}
		}
		if l < len(layers)-2 {
			mask = mask[out:]
		}
		theta, x = theta[in*out+out:], y
	}
	return x[0]
}

func TestDropoutValidate(t *testing.T) {
	hidden := base.MLP{Layers: []int{2, 3, 1}}
	for want, h := range map[string]Dropout{
		"needs hidden layers":    {Net: base.MLP{Layers: []int{2, 1}}, Keep: 0.5},
		"in (0, 1], got 0":       {Net: hidden},
		"in (0, 1], got 2":       {Net: hidden, Keep: 2},
		"in (0, 1], got NaN":     {Net: hidden, Keep: math.NaN()},
		"makes 13 parameters, b": {Net: hidden, Keep: 0.5}, // for a base model of 2
	} {
		if err := (Model{Base: line, Hyper: h}).Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", h, err, want)
		}
	}
	if h := (Dropout{Net: hidden, Keep: 1}); h.Validate() != nil || h.Index().Dim() != 3 || h.NumInvolved() != 13 {
		t.Errorf("got error %v, masks of %d units, %d parameters, want none, 3 and 13",
			h.Validate(), h.Index().Dim(), h.NumInvolved())
	}
}

// InitLayers draws Glorot uniform weights, which reach but do not exceed +-sqrt(6/(in+out)) in each layer (Glorot and
// Bengio 2010, equation 16), and biases of 0. Draws differ between runs and rows. The test draws 400 networks 2-10-1.
func TestInitLayers(t *testing.T) {
	network := base.MLP{Layers: []int{2, 10, 1}}
	const rows, size = 200, 41
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		return []*Node{InitLayers(network)(rng.New(in[0]), 0, 0, rows, size)}
	}, []uint64{1, 2})[0]
	for _, c := range []struct {
		from, to int
		limit    float64
	}{{0, 20, math.Sqrt(0.5)}, {20, 30, 0}, {30, 40, math.Sqrt(6.0 / 11)}, {40, 41, 0}} {
		square, largest, seen, count := 0.0, 0.0, map[float64]bool{}, 0.0
		for row := range slices.Chunk(out, size) {
			for _, v := range row[c.from:c.to] {
				square, largest, count = square+v*v, max(largest, math.Abs(v)), count+1
				seen[v] = true
			}
		}
		if c.limit == 0 {
			if largest != 0 {
				t.Errorf("a bias starts at %g, want 0", largest)
			}
			continue
		}
		// The mean square of a uniform distribution is limit^2/3, good to a relative sqrt(0.8/n). Numbers have 24 bits,
		// so that a few of them are equal.
		if relative := square / count / (c.limit * c.limit / 3); math.Abs(relative-1) > 5*math.Sqrt(0.8/count) ||
			largest > c.limit*(1+1e-6) || largest < 0.99*c.limit || len(seen) < int(0.99*count) {
			t.Errorf("weights %d to %d: the mean square is %.3f times the right one, the largest is %.4f of %.4f, "+
				"%d of %v differ", c.from,
				c.to, relative, largest, c.limit, len(seen), count)
		}
	}
}

// A prior without a base model is added to the parameters, f_{DBz+g}. Predict equals Apply at the sum of g_nu(z) and D
// B z, which the test computes in plain Go.
func TestPriorInTheParameters(t *testing.T) {
	const indices = 3
	layout := PerParameter(13, 1)
	m := Model{net, Linear{Layout: layout, P: index.Gaussian{N: 13}},
		&Prior{Layout: layout, Rows: RowsSphere, StdDev: slices.Repeat([]float64{0.5}, 13)}}
	must.M(m.Validate())
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		s := rng.New(in[0])
		p, x := made(m, s)
		z := m.Index().Sample(s.Named("z"), indices)
		theta := parts{m}.Complete(m.Hyper.Theta(p.Nu, z), p, z)
		return []*Node{theta, p.Nu[0], p.Nu[1], priorOf(p), z.Dense(), m.Predict(p, z, x), m.Base.Apply(theta, x)}
	}, []uint64{1, 2})
	var want []float64
	for run := range runs {
		for i := range indices {
			for j := range 13 {
				at := run*13 + j
				want = append(want, out[1][at]+(out[2][at]+out[3][at])*out[4][(run*indices+i)*13+j])
			}
		}
	}
	same(t, "theta", out[0], want, single)
	same(t, "predictions", out[5], out[6], single)
	for _, db := range out[3] { // a row has one number on the unit sphere, 1 or -1, times 0.5
		if math.Abs(math.Abs(db)-0.5) > 1e-6 {
			t.Errorf("an entry of D B is %g, want 0.5 or -0.5", db)
		}
	}
}
