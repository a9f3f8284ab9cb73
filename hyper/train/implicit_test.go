package train

import (
	"math"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// With one datum a minibatch is copies of it, and the last layer's Hessian is of rank one beside multiples of the identity: the implicit
// step is phi r / sigma_w^2 over |phi|^2 / sigma_w^2 + 1 / sigma_p^2 + 1 / alpha, with phi the last layer's inputs and r the residual.
const (
	implicitX1, implicitX2, implicitY = 0.6, -1.1, 2.5
	implicitNoise, implicitPrior      = 0.5, 3.0
)

// implicitly makes one step on the datum and returns nu before and after.
func implicitly(t *testing.T, name string, tr Trainer, step, mapStep float64) (before, after [][]float32) {
	t.Helper()
	if err := tr.Validate(tr.Model); err != nil {
		t.Fatal(err)
	}
	b, err := backend.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	out, err := CallOnceN(b, func(in []*Node) []*Node {
		g, s := in[0].Graph(), rng.New(in[0])
		number := func(x float64) *Node { return Const(g, []float32{float32(x)}) }
		actions := Const(g, [][][]float32{{{implicitX1, implicitX2}}})
		r := Rates{Step: number(step), NoiseVar: number(implicitNoise), PriorVar: number(implicitPrior), Perturbation: number(0), MapStep: number(mapStep)}
		state := tr.Observe(tr.Init(s.Named("init"), nil), s, Const(g, int32(0)), Const(g, []int32{0}), number(implicitY), actions, r)
		after := tr.Train(state, s.Named("learn"), Const(g, int32(1)), actions, r)
		n = len(list(state, "nu"))
		return append(list(state, "nu"), list(after, "nu")...)
	}, []uint64{3})
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range out {
		flat := tensors.MustCopyFlatData[float32](o)
		if i < n {
			before = append(before, flat)
		} else {
			after = append(after, flat)
		}
	}
	return before, after
}

func checkNumber(t *testing.T, what string, got float32, want float64) {
	t.Helper()
	if math.Abs(float64(got)-want) > 2e-4*math.Max(1, math.Abs(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// TestImplicitEnsemble: particles with a hidden layer. A loss is a mean over the particles, so that the rank-one part and the
// anchor are divided by their number.
func TestImplicitEnsemble(t *testing.T) {
	const particles, params = 3, 13 // 2-3-1: 9 and 4 parameters
	net := base.MLP{Layers: []int{2, 3, 1}, Activation: base.ActivationTanh}
	tr := Trainer{
		Model:  hyper.Model{Base: net, Hyper: hyper.Ensemble{Particles: particles, Params: params, InitNu: hyper.InitNormal(0.7)}},
		Config: Config{Steps: 1, Batch: 5, Integrate: Analytic, LastLayer: ImplicitStep, Capacity: 2},
	}
	testbackend.Each(t, func(t *testing.T, name string) {
		for _, step := range []float64{0.01, 1, 1e6} { // as small as gradient steps, moderate, the minimiser
			before, after := implicitly(t, name, tr, step, 1)
			for p := range particles {
				nu := before[0][p*params : (p+1)*params]
				phi, norm2, f := make([]float64, 4), 0.0, 0.0
				for h := range 3 {
					phi[h] = math.Tanh(float64(nu[2*h])*implicitX1 + float64(nu[2*h+1])*implicitX2 + float64(nu[6+h]))
				}
				phi[3] = 1
				for i, x := range phi {
					norm2, f = norm2+x*x, f+x*float64(nu[9+i])
				}
				curvature := (norm2/implicitNoise+1/implicitPrior)/particles + 1/step
				for i, x := range phi {
					want := float64(nu[9+i]) + x*(implicitY-f)/implicitNoise/particles/curvature
					checkNumber(t, "a last weight", after[0][p*params+9+i], want)
				}
			}
		}
	})
}

// TestImplicitLinear: a frame of all directions has the moments 0 and I, so that mu and C see the same curvature, and mean residuals
// y - phi^T mu and -phi^T C. A network without hidden layers is its own last layer, with phi = (x, 1).
func TestImplicitLinear(t *testing.T) {
	layout := hyper.Dense(3, 2)
	tr := Trainer{
		Model: hyper.Model{
			Base:  base.MLP{Layers: []int{2, 1}},
			Hyper: hyper.Linear{Layout: layout, P: index.Gaussian{N: 2}, InitC: hyper.InitNormal(0.8), InitM: hyper.InitNormal(0.8)},
		},
		Config: Config{Steps: 1, Batch: 3, Indices: 4, IndexSet: Frame, LastLayer: ImplicitStep, Capacity: 2},
	}
	phi := []float64{implicitX1, implicitX2, 1}
	norm2 := implicitX1*implicitX1 + implicitX2*implicitX2 + 1
	testbackend.Each(t, func(t *testing.T, name string) {
		const step, mapStep = 2.0, 0.25
		before, after := implicitly(t, name, tr, step, mapStep)
		mu, c := before[0], before[1]
		curvature := norm2/implicitNoise + 1/implicitPrior
		f, fc := 0.0, make([]float64, 2)
		for i, x := range phi {
			f += x * float64(mu[i])
			for j := range fc {
				fc[j] += x * float64(c[2*i+j])
			}
		}
		for i, x := range phi {
			checkNumber(t, "mu", after[0][i], float64(mu[i])+x*(implicitY-f)/implicitNoise/(curvature+1/step))
			for j := range fc {
				checkNumber(t, "C", after[1][2*i+j], float64(c[2*i+j])-x*fc[j]/implicitNoise/(curvature+1/(step*mapStep)))
			}
		}
	})
}

// TestImplicitRefusals: what has no implicit step is told so.
func TestImplicitRefusals(t *testing.T) {
	net := base.MLP{Layers: []int{2, 3, 1}}
	c := Config{Steps: 1, Batch: 1, Indices: 2, LastLayer: ImplicitStep, Capacity: 1}
	adam := c
	adam.Optimizer = "adam"
	for _, x := range []struct {
		config Config
		model  hyper.Model
		want   string
	}{
		{c, hyper.Model{Base: base.Linear{Features: 3}, Hyper: hyper.Ensemble{Particles: 2, Params: 3}}, "needs a network"},
		{c, hyper.Model{Base: net, Hyper: hyper.MeanField{Params: 13}}, "needs an ensemble or a dense linear hypermodel"},
		{c, hyper.Model{Base: net, Hyper: hyper.Linear{Layout: hyper.PerGroup(net, 2), P: index.Gaussian{N: 4}}}, "needs an ensemble or a dense linear hypermodel"},
		{adam, hyper.Model{Base: net, Hyper: hyper.Ensemble{Particles: 2, Params: 13}}, "a step of sgd"},
	} {
		if err := x.config.Validate(x.model); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: error %v, want %q", x.model.Hyper, err, x.want)
		}
	}
}
