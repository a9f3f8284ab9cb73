package hyper

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// smallEpinet has a different width for each layer.
var smallEpinet = Epinet{
	Features: 2, Hidden: []int{4, 3}, Epi: []int{5}, Dim: 2, PriorHidden: []int{6}, PriorScale: 0.7,
}

// epinetData holds parameters of smallEpinet, indices and inputs, for two runs.
type epinetData struct{ mean, epinet, prior, scale, z, x *tensors.Tensor }

func newEpinetData() epinetData {
	b, r := smallEpinet, rand.New(rand.NewPCG(5, 6))
	return epinetData{
		random(r, 2, NumTheta(b.mean())), random(r, 2, NumTheta(b.epinet())), random(r, 2, b.Dim, NumTheta(b.prior())),
		tensors.FromValue([]float32{0.5, 3}), random(r, 2, 3, b.Dim), random(r, 2, 4, b.Features),
	}
}

func (d epinetData) args() []any { return []any{d.mean, d.epinet, d.prior, d.scale, d.z, d.x} }

// epinetParams returns the parameters among the arguments of a graph function.
func epinetParams(in []*Node) Params {
	return Params{Nu: in[:2], Fixed: map[string]*Node{"prior": in[2], "scale": in[3]}}
}

// part divides the numbers of a tensor into n equal parts, and returns part i.
func part(x *tensors.Tensor, i, n int) []float64 {
	all := tensors.MustCopyFlatData[float32](x)
	out := make([]float64, len(all)/n)
	for j := range out {
		out[j] = float64(all[i*len(out)+j])
	}
	return out
}

// plainMLP returns the units of the last hidden layer of a ReLU network, and the network's outputs.
func plainMLP(net base.MLP, theta, x []float64) (units, out []float64) {
	for i := range len(net.Layers) - 1 {
		in, width := net.Layers[i], net.Layers[i+1]
		units = x
		x = make([]float64, width)
		for o := range x {
			x[o] = theta[in*width+o]
			for j := range in {
				x[o] += theta[o*in+j] * units[j]
			}
			if i < len(net.Layers)-2 {
				x[o] = max(x[o], 0)
			}
		}
		theta = theta[(in+1)*width:]
	}
	return units, x
}

// plainEpinet returns f(x, z) of smallEpinet. g sees the units of a network with parameters phi; for f, phi is mean.
func plainEpinet(d epinetData, run int, mean, phi, epinet, z, x []float64) float64 {
	b := smallEpinet
	_, mu := plainMLP(b.mean(), mean, x)
	units, _ := plainMLP(b.mean(), phi, x)
	var in []float64
	in = append(append(append(in, z...), x...), units...)
	_, g := plainMLP(b.epinet(), epinet, in)
	f := mu[0]
	for i := range z {
		_, p := plainMLP(b.prior(), part(d.prior, run*b.Dim+i, 2*b.Dim), x)
		f += z[i] * (g[i] + part(d.scale, run, 2)[0]*b.PriorScale*p[0])
	}
	return f
}

// Predictions equal the formula, which the test computes number by number.
func TestEpinet(t *testing.T) {
	d := newEpinetData()
	var want []float64
	for run := range 2 {
		mean, epinet := part(d.mean, run, 2), part(d.epinet, run, 2)
		for i := range 3 {
			for j := range 4 {
				want = append(want, plainEpinet(d, run, mean, mean, epinet, part(d.z, run*3+i, 6), part(d.x, run*4+j, 8)))
			}
		}
	}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		out := eval(t, name, func(in []*Node) []*Node {
			return []*Node{smallEpinet.Predict(epinetParams(in), index.Vectors(in[4]), in[5])}
		}, newEpinetData().args()...)
		same(t, "predictions", out[0], want, single)
	})
}

// The gradient of sum f with respect to mu's parameters is the gradient of sum mu alone, although g sees mu's units.
// The gradient with respect to g's parameters takes these units as constants. The prior has no gradient. A ReLU network
// is linear in each of its parameters between kinks, so that differences are derivatives.
func TestEpinetGradient(t *testing.T) {
	d := newEpinetData()
	const step = 1e-6 // for parameters of size 1, differences in double precision are right to about 1e-9
	sum := func(run int, mean, phi, epinet []float64) (s float64) {
		for i := range 3 {
			for j := range 4 {
				s += plainEpinet(d, run, mean, phi, epinet, part(d.z, run*3+i, 6), part(d.x, run*4+j, 8))
			}
		}
		return s
	}
	slope := func(v []float64, f func() float64) (out []float64) {
		for i, at := range v {
			v[i] = at + step
			up := f()
			v[i] = at - step
			out = append(out, (up-f())/(2*step))
			v[i] = at
		}
		return out
	}
	var want [2][]float64
	moved := 0.0 // by mu's parameters through phi
	for run := range 2 {
		mean, phi, epinet := part(d.mean, run, 2), part(d.mean, run, 2), part(d.epinet, run, 2)
		f := func() float64 { return sum(run, mean, phi, epinet) }
		want[0], want[1] = append(want[0], slope(mean, f)...), append(want[1], slope(epinet, f)...)
		for _, s := range slope(phi, f) {
			moved += s * s
		}
	}
	if moved < 1 {
		t.Fatalf("phi changes predictions by %v, too little for this test", moved)
	}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		out := eval(t, name, func(in []*Node) []*Node {
			f := smallEpinet.Predict(epinetParams(in), index.Vectors(in[4]), in[5])
			return Gradient(ReduceAllSum(f), in[:4]...)
		}, newEpinetData().args()...)
		same(t, "gradient of the network", out[0], want[0], 2*single)
		same(t, "gradient of the epinet", out[1], want[1], 2*single)
		same(t, "gradient of the prior", out[2], make([]float64, len(out[2])), 0)
		same(t, "gradient of the prior's scale", out[3], make([]float64, len(out[3])), 0)
	})
}

// If g is 0, opposite indices have opposite deviations from mu, which are the prior's. If there is no prior either,
// there are no deviations: every function is mu.
func TestEpinetIsAroundTheMean(t *testing.T) {
	d := newEpinetData()
	var want, twice []float64
	for run := range 2 {
		for range 3 {
			for j := range 4 {
				_, mu := plainMLP(smallEpinet.mean(), part(d.mean, run, 2), part(d.x, run*4+j, 8))
				want, twice = append(want, mu[0]), append(twice, 2*mu[0])
			}
		}
	}
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		p, none := epinetParams(in), smallEpinet
		p.Nu = []*Node{in[0], ZerosLike(in[1])}
		none.PriorScale = 0
		at := func(b Epinet, z *Node) *Node { return b.Predict(p, index.Vectors(z), in[5]) }
		up, down := at(smallEpinet, in[4]), at(smallEpinet, Neg(in[4]))
		return []*Node{at(none, in[4]), Add(up, down), ReduceAllMax(Abs(Sub(up, down)))}
	}, newEpinetData().args()...)
	same(t, "neither epinet nor prior", out[0], want, single)
	same(t, "no epinet", out[1], twice, single)
	if out[2][0] < 0.1 {
		t.Errorf("opposite indices differ by %v, want the prior's deviations", out[2])
	}
}

// The scale of a run multiplies only the prior's functions; nil means 1. Each run has its own networks.
func TestEpinetScale(t *testing.T) {
	x := random(rand.New(rand.NewPCG(1, 2)), 2, 5, 2)
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		s := rng.New(in[0])
		z := smallEpinet.Index().Sample(s.Named("z"), 4)
		at := func(scale *Node) (Params, *Node) {
			p := smallEpinet.Init(s, scale)
			return p, smallEpinet.Predict(p, z, in[1])
		}
		scale := Const(in[0].Graph(), []float32{0.5, 3})
		p, scaled := at(scale)
		q, one := at(nil)
		_, none := at(ZerosLike(scale))
		want := Add(none, Mul(InsertAxes(scale, -1, -1), Sub(one, none)))
		return []*Node{
			scaled, want, p.Nu[0], q.Nu[0], p.Nu[1], q.Nu[1], p.Fixed["prior"], q.Fixed["prior"],
			ReduceAllMax(Abs(Sub(one, none))),
		}
	}, []uint64{1, 2}, x)
	same(t, "predictions", out[0], out[1], single)
	for i := 2; i < 8; i += 2 {
		same(t, "parameters of another scale", out[i], out[i+1], 0)
		n := len(out[i]) / 2
		if fmt.Sprint(out[i][:n]) == fmt.Sprint(out[i][n:]) {
			t.Error("two runs have the same networks")
		}
	}
	if out[8][0] < 0.1 {
		t.Errorf("the prior's functions have at most the size %v, want more", out[8])
	}
}

// ForInputs changes only the number of features.
func TestEpinetForInputs(t *testing.T) {
	b := NewEpinet(2).ForInputs(7).(Epinet)
	if b.Inputs() != 7 || b.Validate() != nil || b.Index() != (index.Gaussian{N: 8}) {
		t.Errorf("got epinet %+v with fault %v, want 7 inputs and an index of 8 numbers", b, b.Validate())
	}
	// mu is 7-50-50-1. g has 8 + 7 + 50 inputs, and is 65-15-15-8.
	if want := 8*50 + 51*50 + 51 + 66*15 + 16*15 + 16*8; b.NumInvolved() != want {
		t.Errorf("%d parameters are trained, want %d", b.NumInvolved(), want)
	}
}

func TestEpinetValidate(t *testing.T) {
	with := func(change func(b *Epinet)) Epinet {
		b := NewEpinet(3)
		change(&b)
		return b
	}
	if err := with(func(*Epinet) {}).Validate(); err != nil {
		t.Error(err)
	}
	if err := with(func(b *Epinet) { b.Epi, b.PriorHidden, b.PriorScale = nil, nil, 0 }).Validate(); err != nil {
		t.Errorf("no hidden layers of the epinet and no prior: got error %v", err)
	}
	for want, b := range map[string]Epinet{
		"Features must be at least 1, got 0":                 with(func(b *Epinet) { b.Features = 0 }),
		"Dim must be at least 1, got 0":                      with(func(b *Epinet) { b.Dim = 0 }),
		"PriorScale must be finite and not negative, got -1": with(func(b *Epinet) { b.PriorScale = -1 }),
		"Hidden needs a layer":                               with(func(b *Epinet) { b.Hidden = nil }),
		"Layers must be positive widths, got [3 0 1]":        with(func(b *Epinet) { b.Hidden = []int{0} }),
		"Layers must be positive widths, got [61 -2 8]":      with(func(b *Epinet) { b.Epi = []int{-2} }),
		"Layers must be positive widths, got [3 5 -5 1]":     with(func(b *Epinet) { b.PriorHidden = []int{5, -5} }),
	} {
		err := b.Validate()
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "hyper.Epinet: ") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	err := Epinet{PriorScale: -1}.Validate()
	for _, want := range []string{"Features", "Dim", "PriorScale", "Hidden"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want also %q", err, want)
		}
	}
}

// An epinet for inputs of 4 features with the sizes of the Neural Testbed, and one with an index of 16 numbers.
func ExampleNewEpinet() {
	b := NewEpinet(4)
	fmt.Println(b.Hidden, b.Epi, b.NumInvolved(), b.Validate())
	b.Dim = 16
	fmt.Println(b.Index(), b.ForInputs(10).Index(), b.NumInvolved())
	// Output:
	// [50 50] [15 15] 4164 <nil>
	// {16} {16} 4412
}
