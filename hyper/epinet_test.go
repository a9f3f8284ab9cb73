package hyper

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// smallEpinet is an epinet of which every part does something.
var smallEpinet = Epinet{Features: 2, Hidden: []int{4, 3}, Epi: []int{5}, Dim: 2, PriorHidden: []int{3}, PriorScale: 0.7}

// mlp is a ReLU network in plain Go: its outputs, and its last hidden layer.
func mlp(layers []int, theta, x []float64) (out, hidden []float64) {
	for i := range len(layers) - 1 {
		in, width := layers[i], layers[i+1]
		next := make([]float64, width)
		for o := range next {
			next[o] = theta[in*width+o]
			for j := range in {
				next[o] += theta[o*in+j] * x[j]
			}
			if i < len(layers)-2 {
				next[o] = max(next[o], 0)
			}
		}
		hidden, x, theta = x, next, theta[(in+1)*width:]
	}
	return x, hidden
}

// f(x, z) is the network, the epinet and the prior, added up in plain Go in double precision, for two runs whose priors
// have scales of their own. Roundings of single precision are some 1e-6.
func TestEpinetPredicts(t *testing.T) {
	b, r := smallEpinet, rand.New(rand.NewPCG(1, 2))
	x, z := make([][][]float32, 2), make([][][]float32, 2)
	for run := range 2 {
		for range 3 {
			x[run] = append(x[run], []float32{float32(r.NormFloat64()), float32(r.NormFloat64())})
			z[run] = append(z[run], []float32{float32(r.NormFloat64()), float32(r.NormFloat64())})
		}
	}
	scale := []float32{1, 2.5}
	testbackend.Each(t, func(t *testing.T, name string) {
		out := eval(t, name, func(in []*Node) []*Node {
			p := b.Init(rng.New(in[0]), in[3])
			return []*Node{b.Predict(p, index.Vectors(in[2]), in[1]), p.Nu[0], p.Nu[1], p.Fixed["prior"]}
		}, []uint64{5, 6}, x, z, scale)
		at := 0
		for run := range 2 {
			part := func(k int) []float64 {
				n := len(out[k]) / 2
				return out[k][run*n : (run+1)*n]
			}
			mean, epi, prior := part(1), part(2), part(3)
			for _, zi := range z[run] {
				for _, xi := range x[run] {
					in := floats(xi)
					mu, hidden := mlp([]int{2, 4, 3, 1}, mean, in)
					g, _ := mlp([]int{7, 5, 2}, epi, append(append(floats(zi), in...), hidden...))
					want := mu[0]
					for d := range 2 {
						n := len(prior) / 2
						p, _ := mlp([]int{2, 3, 1}, prior[d*n:(d+1)*n], in)
						want += float64(zi[d]) * (g[d] + 0.7*float64(scale[run])*p[0])
					}
					if got := out[0][at]; !(got-want < 1e-5 && want-got < 1e-5) {
						t.Fatalf("run %d: f is %v, want %v", run, got, want)
					}
					at++
				}
			}
		}
	})
}

// No gradient of the epinet flows into the network, and none into the prior: the network's gradient is that of mu alone.
func TestEpinetStopsGradients(t *testing.T) {
	b := smallEpinet
	out := eval(t, "go", func(in []*Node) []*Node {
		p := b.Init(rng.New(in[0]), nil)
		f := b.Predict(p, index.Vectors(in[2]), in[1])
		mu := base.MLP{Layers: []int{2, 4, 3, 1}}.Apply(InsertAxes(p.Nu[0], 1), in[1])
		grads := Gradient(ReduceAllSum(f), p.Nu[0], p.Nu[1], p.Fixed["prior"])
		alone := Gradient(MulScalar(ReduceAllSum(mu), 2), p.Nu[0]) // of two indices
		return []*Node{grads[0], alone[0], grads[1], grads[2]}
	}, []uint64{7}, [][][]float32{{{0.3, -0.2}, {1, 0.5}}}, [][][]float32{{{1, -1}, {0.5, 2}}})
	moves := 0
	for i := range out[0] {
		if d := out[0][i] - out[1][i]; d > 1e-5 || d < -1e-5 {
			t.Fatalf("gradient %d of the network is %v, of mu alone %v", i, out[0][i], out[1][i])
		}
	}
	for _, g := range out[2] {
		if g != 0 {
			moves++
		}
	}
	if moves == 0 {
		t.Error("the epinet has no gradient")
	}
	for _, g := range out[3] {
		if g != 0 {
			t.Fatalf("the prior has gradient %v", g)
		}
	}
}

func floats(v []float32) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = float64(v[i])
	}
	return out
}

func TestEpinetIsChecked(t *testing.T) {
	for want, b := range map[string]Epinet{
		"Features must be at least 1":   NewEpinet(0),
		"Dim must be at least 1":        {Features: 1, Hidden: []int{2}},
		"Hidden needs a layer":          {Features: 1, Dim: 2},
		"PriorScale must be finite and": {Features: 1, Dim: 1, Hidden: []int{2}, PriorScale: -1},
	} {
		if err := b.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", b, err, want)
		}
	}
	if err := NewEpinet(0).ForInputs(3).(Epinet).Validate(); err != nil {
		t.Error(err)
	}
}

// An epinet for four features: a network, and beside it a small one whose index has eight numbers.
func ExampleNewEpinet() {
	b := NewEpinet(4)
	fmt.Println(b.Validate(), b.Index().Dim(), b.NumInvolved())
	// Output: <nil> 8 4164
}
