package hyper

import (
	"fmt"
	"math"
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

// smallLast and smallShared are the beliefs with linear parts on the last hidden layer of a network.
var (
	smallLast   = LastLayer{Features: 2, Hidden: []int{4, 3}, Dim: 2, PriorScale: 0.7}
	smallShared = SharedEnsemble{Features: 2, Hidden: []int{4, 3}, Members: 2, Scale: 1.5, PriorScale: 0.7}
)

// headed is a belief with a network, a trained matrix on the network's last hidden layer, and a fixed matrix beside it.
type headed struct {
	Belief
	net  base.MLP
	rows int // number of rows of the matrices
	bias int // number of parameters of the output layer that the belief does not have
	// plain returns f(x, z). units are the parameters of the network from which the part with z takes its features.
	plain func(net, units, c, fixed, z, x []float64) float64
}

func headeds() map[string]headed {
	return map[string]headed{
		"last layer": {smallLast, smallLast.network(), 4, 0, func(net, _, c, fixed, z, x []float64) float64 {
			h, mu := plainMLP(smallLast.network(), net, x)
			f := mu[0]
			for i, u := range append(append([]float64{}, h...), 1) {
				for k := range z {
					f += (c[2*i+k] + fixed[2*i+k]) * z[k] * u
				}
			}
			return f
		}},
		"shared ensemble": {smallShared, smallShared.network(), 3, 1, func(net, units, c, fixed, z, x []float64) float64 {
			_, f := plainMLP(smallShared.network(), append(append([]float64{}, net...), 0), x)
			h, _ := plainMLP(smallShared.network(), append(append([]float64{}, units...), 0), x)
			for i, u := range h {
				for k := range z {
					f[0] += (1.5*c[2*i+k] + 0.7*fixed[2*i+k]) * z[k] * u
				}
			}
			return f[0]
		}},
	}
}

// args returns parameters for two runs, indices and inputs. It returns the same numbers at each call.
func (b headed) args() []any {
	r := rand.New(rand.NewPCG(5, 6))
	return []any{random(r, 2, NumTheta(b.net)-b.bias), random(r, 2, b.rows, 2), random(r, 2, b.rows, 2),
		random(r, 2, 3, 2), random(r, 2, 4, 2)}
}

func (b headed) predict(in []*Node) *Node {
	p := Params{Nu: in[:2], Fixed: map[string]*Node{"prior": in[2]}}
	return b.Predict(p, index.Vectors(in[3]), in[4])
}

// Predictions equal the formula, which the test computes number by number. Gradients equal the formula's, by central
// differences: these are exact between kinks, as in TestEpinetGradient. The members of a shared ensemble give its
// features no gradient, and fixed matrices have no gradient.
func TestHeads(t *testing.T) {
	for what, b := range headeds() {
		of := func(arg, run, n int) []float64 { return part(b.args()[arg].(*tensors.Tensor), run, n) }
		var want []float64
		var slopes [2][]float64
		for run := range 2 {
			net, c, fixed := of(0, run, 2), of(1, run, 2), of(2, run, 2)
			each := func(net, c []float64, do func(f float64)) {
				for i := range 3 {
					for j := range 4 {
						units := net
						if b.bias > 0 {
							units = of(0, run, 2)
						}
						do(b.plain(net, units, c, fixed, of(3, run*3+i, 6), of(4, run*4+j, 8)))
					}
				}
			}
			each(net, c, func(f float64) { want = append(want, f) })
			sum := func() (s float64) { each(net, c, func(f float64) { s += f }); return s }
			for k, v := range [][]float64{net, c} {
				for i, at := range v {
					const step = 1e-6
					v[i] = at + step
					up := sum()
					v[i] = at - step
					slopes[k] = append(slopes[k], (up-sum())/(2*step))
					v[i] = at
				}
			}
		}
		testbackend.ForEach(t, func(t *testing.T, name string) {
			out := eval(t, name, func(in []*Node) []*Node {
				f := b.predict(in)
				return append([]*Node{f}, Gradient(ReduceAllSum(f), in[:3]...)...)
			}, b.args()...)
			same(t, what+": predictions", out[0], want, single)
			same(t, what+": gradient of the network", out[1], slopes[0], 2*single)
			same(t, what+": gradient of the matrix", out[2], slopes[1], 2*single)
			same(t, what+": gradient of the fixed matrix", out[3], make([]float64, len(out[3])), 0)
		})
	}
}

// A LastLayer equals the linear hypermodel of its network with rows of C that are 0 except for the last layer, and with
// a prior in the parameters whose D B has the same structure.
func TestLastLayerIsLinear(t *testing.T) {
	b, net := smallLast, smallLast.network()
	n := NumTheta(net)
	whole := Model{net, Linear{Layout: Dense(n, 2), P: index.Gaussian{N: 2}}, &Prior{Layout: Dense(n, 2)}}
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		wide := func(c *Node) *Node {
			return Concatenate([]*Node{ZerosLike(BroadcastToDims(Slice(c, AxisRange(), AxisRange(0, 1)), 2, n-4, 2)), c}, 1)
		}
		p := Params{Nu: []*Node{in[0], wide(in[1])}, Fixed: map[string]*Node{priorMatrix: wide(in[2])}}
		return []*Node{headeds()["last layer"].predict(in), whole.Predict(p, index.Vectors(in[3]), in[4])}
	}, headeds()["last layer"].args()...)
	same(t, "predictions", out[0], out[1], single)
	if b.NumInvolved() != n+4*2 {
		t.Errorf("got %d trained parameters, want mu and the last layer", b.NumInvolved())
	}
}

// Before any data the predictions of a last layer have mean 0 in each run, and standard deviation PriorScale times
// scale over standardised inputs. The estimate uses 400 runs of 50 functions at 4 inputs; the values of one run have
// correlations of a few tenths.
func TestLastLayerBeforeData(t *testing.T) {
	b := NewLastLayer(6)
	b.PriorScale = 0.5
	seeds, scale := make([]uint64, 400), make([]float32, 400)
	for i := range seeds {
		seeds[i], scale[i] = uint64(i), 3
	}
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		s := rng.New(in[0])
		p, x := b.Init(s, in[1]), s.Named("x").Normal(4, 6)
		f := b.Predict(p, b.Index().Sample(s.Named("z"), 50), x)
		middle := b.Predict(p, index.Vectors(Zeros(x.Graph(), b.Index().Sample(s, 1).Dense().Shape())), x)
		return []*Node{Sqrt(ReduceAllMean(Square(f))), ReduceAllMax(Abs(middle))}
	}, seeds, scale)
	if math.Abs(out[0][0]/1.5-1) > 0.1 || out[1][0] != 0 {
		t.Errorf("standard deviation %v, want 1.5; the mean function is up to %v", out[0], out[1])
	}
}

// The scale of a run multiplies only what is fixed; nil means 1. Each run has its own networks, and a run in a batch
// equals the same run alone.
func TestHeadsScale(t *testing.T) {
	for what, b := range map[string]Belief{"last layer": smallLast, "shared ensemble": smallShared} {
		at := func(seeds []uint64, scale []float32) [][]float64 {
			return eval(t, backend.Go, func(in []*Node) []*Node {
				s := rng.New(in[0])
				x, z := s.Named("x").Normal(4, 2), b.Index().Sample(s.Named("z"), 3)
				p := b.Init(s, in[1])
				return []*Node{p.Nu[0], p.Nu[1], p.Fixed["prior"], b.Predict(p, z, x), b.Init(s, nil).Fixed["prior"]}
			}, seeds, scale)
		}
		both, alone := at([]uint64{1, 2}, []float32{0.5, 3}), at([]uint64{2}, []float32{3})
		for i := range both {
			half := len(both[i]) / 2
			same(t, fmt.Sprintf("%s alone, %d", what, i), both[i][half:], alone[i], single)
			if i != 1 && fmt.Sprint(both[i][:half]) == fmt.Sprint(both[i][half:]) {
				t.Errorf("%s: two runs have the same numbers %d", what, i)
			}
		}
		for i, v := range both[4] {
			want := v * []float64{0.5, 3}[i/(len(both[4])/2)]
			if math.Abs(both[2][i]-want) > 1e-6 {
				t.Errorf("%s: a fixed number is %v, want %v", what, both[2][i], want)
			}
		}
	}
}

func TestHeadsValidate(t *testing.T) {
	for want, b := range map[string]interface{ Validate() error }{
		"hyper.LastLayer: Features must be at least 1, got 0":                 LastLayer{Dim: 1, Hidden: []int{2}},
		"hyper.LastLayer: Hidden needs a layer":                               LastLayer{Features: 1, Dim: 1},
		"hyper.LastLayer: Dim must be at least 1":                             LastLayer{Features: 1, Hidden: []int{2}},
		"hyper.LastLayer: PriorScale must be finite and not negative, got -1": LastLayer{1, []int{2}, 1, -1},
		"hyper.LastLayer: base.MLP: Layers must be positive":                  LastLayer{1, []int{-2}, 1, 1},
		"hyper.SharedEnsemble: Members must be at least 1": SharedEnsemble{Features: 1,
			Hidden: []int{2}},
		"hyper.SharedEnsemble: Hidden needs a layer": SharedEnsemble{Features: 1, Members: 1},
		"hyper.SharedEnsemble: Scale must be finite and not negative, got -1": SharedEnsemble{1, []int{2}, 1, -1, 0,
			false},
		"hyper.SharedEnsemble: PriorScale must be finite and not negative, got -": SharedEnsemble{1, []int{2}, 1, 1, -2,
			false},
	} {
		if err := b.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	for _, b := range []Belief{NewLastLayer(3), NewSharedEnsemble(3)} {
		if err := b.(interface{ Validate() error }).Validate(); err != nil {
			t.Error(err)
		}
	}
}

// A last layer for inputs of 4 features, with an index of 16 numbers.
func ExampleNewLastLayer() {
	b := NewLastLayer(4)
	b.Dim = 16
	fmt.Println(b.Index(), b.NumInvolved(), b.Validate())
	// Output: {16} 3667 <nil>
}

// Ensemble++ for inputs of 4 features: eight members on 64 features of a network.
func ExampleNewSharedEnsemble() {
	b := NewSharedEnsemble(4)
	fmt.Println(b.Index(), b.NumInvolved(), b.Validate())
	// Output: {8 sphere sphere 0} 5056 <nil>
}
