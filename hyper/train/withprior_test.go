package train

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// A belief that has a model as its prior learns the functions of one model that has the same prior itself, from the
// same draws. The test covers every route that supports a separate prior. If the model's prior is in its parameters,
// the two may take different routes, with the same gradient.
func TestWithPriorLearnsWhatAModelDoes(t *testing.T) {
	line, net := base.Linear{Features: 3}, base.MLP{Layers: []int{3, 2, 1}, Activation: base.ActivationTanh}
	wide := base.MLP{Layers: []int{3, 4, 1}}
	gaussian := index.Gaussian{N: 4}
	c := Config{Steps: 2, Batch: 6, Indices: 4, Capacity: 5}
	analytic := Config{Steps: 2, Batch: 6, Capacity: 5, Integrate: Analytic}
	in := func(b hyper.BaseModel, l hyper.Layout) hyper.Belief {
		return hyper.Model{Base: b, Hyper: hyper.Linear{Layout: l, P: gaussian}}
	}
	particles := func(b hyper.BaseModel) hyper.Belief {
		return hyper.Model{Base: b, Hyper: hyper.Ensemble{Particles: 4, Params: hyper.NumTheta(b)}}
	}
	for _, x := range []struct {
		name              string
		model             hyper.Model
		prior             hyper.Belief
		config            Config
		route, modelRoute string
	}{
		{"own gradient", withPrior(affineIn(net, hyper.Dense(11, 4), gaussian, none), wide, hyper.Dense(21, 4)),
			in(wide, hyper.Dense(21, 4)), c, "own gradient", "own gradient"},
		{"own gradient, all particles", withPrior(ensembleOf(net, 4, none), wide, hyper.Dense(21, 4)), particles(wide),
			analytic, "own gradient", "own gradient"},
		{"own gradient, another loss", withPrior(networkOf(net, gaussian, none), wide, hyper.Dense(21, 4)),
			in(wide, hyper.Dense(21, 4)),
			Config{Steps: 2, Batch: 6, Indices: 4, Capacity: 5, Loss: logCosh{}, Weights: Exponential}, "own gradient",
			"own gradient"},
		{"autodiff", withPrior(affineIn(line, hyper.Dense(3, 4), gaussian, none), wide, hyper.Dense(21, 4)),
			in(wide, hyper.Dense(21, 4)), c,
			"automatic differentiation", "automatic differentiation"},
		{"exact", withPrior(ensembleOf(line, 4, none), wide, hyper.Dense(21, 4)), particles(wide), Config{Integrate: Exact},
			"exact", "exact"},
		{"sums of the model", affineIn(line, hyper.Dense(3, 4), gaussian, hyper.Dense(3, 4)), in(line, hyper.Dense(3, 4)), c,
			"automatic differentiation", "sums"},
		{"features of the model", affineIn(line, hyper.Dense(3, 4), gaussian, hyper.Dense(3, 4)), in(line, hyper.Dense(3, 4)),
			Config{Steps: 2, Batch: 6, Indices: 4, Capacity: 5, Weights: Bernoulli}, "automatic differentiation", "features"},
		{"exact, prior in the model's parameters", ensembleOf(line, 4, hyper.Dense(3, 4)), particles(line),
			Config{Integrate: Exact}, "exact", "exact"},
	} {
		bare := x.model
		bare.Prior = nil
		one, two := Trainer{x.model, x.config}, Trainer{hyper.WithPrior{Belief: bare, Prior: x.prior}, x.config}
		if a, b := one.Route().Name, two.Route().Name; a != x.modelRoute || b != x.route {
			t.Errorf("%s: got the routes %q and %q", x.name, a, b)
		}
		out := eval(t, backend.Go, func(in []*Node) []*Node {
			s := rng.New(in[0])
			start := one.Init(s.Named("init"), nil)
			same := two.Init(s.Named("init"), nil)
			for name, v := range start {
				if _, ok := same[name]; ok {
					same[name] = v // nu starts differently if a model has a prior
				}
			}
			if theta := start["fixed.prior.theta"]; theta != nil {
				same["fixed.with.1.0"] = theta
			} else {
				same["fixed.with.1.0"], same["fixed.with.1.1"] = ZerosLike(same["fixed.with.1.0"]), start["fixed.prior"]
			}
			return append(learned(one, start, s, in[1]), learned(two, same, s, in[1])...)
		}, []uint64{3, 4}, randomArray(rand.New(rand.NewPCG(1, 2)), 1, problemRuns, 5, 3).float32s())
		half := len(out) / 2
		for i := range half {
			near(t, fmt.Sprintf("%s, %d", x.name, i), out[half+i].v, out[i].v, 4*single)
		}
		if moved := apart(out[half-1].v, make([]float64, len(out[half-1].v))); moved < 0.3 {
			t.Errorf("%s: nu moved by %g, too little for this test", x.name, moved)
		}
	}
}

// learned trains on four data of a menu. It returns predictions at the menu, nu, and the change of nu.
func learned(tr Trainer, state State, s rng.Stream, menu *Node) []*Node {
	g := menu.Graph()
	number := func(v float32) *Node { return Const(g, []float32{v, v / 2}) }
	r := Rates{Step: number(0.5), NoiseVar: number(0.5), PriorVar: number(2), Perturbation: number(0.7)}
	before := state["nu.0"]
	for i := range 4 {
		size := Const(g, int32(i))
		state = tr.Observe(state, s.Named("observe").Step(i), size, Const(g, []int32{int32(i), int32(4 - i)}),
			number(float32(i)-1), menu, r)
		state = tr.Train(maps.Clone(state), s.Named("train").Step(i), Const(g, int32(i+1)), menu, r)
	}
	p := tr.Params(state)
	out := append([]*Node{tr.Belief.Predict(p, tr.Belief.Index().Sample(s.Named("z"), 6), menu)}, p.Nu...)
	return append(out, Sub(ConvertDType(state["nu.0"], dtypes.Float32), ConvertDType(before, dtypes.Float32)))
}

// The exact minimiser includes both priors, if one is in the parameters of an ensemble and the other is not. It equals
// the minimiser with a single prior that is their sum.
func TestExactWithTwoPriors(t *testing.T) {
	line := base.Linear{Features: 3}
	m := ensembleOf(line, 4, hyper.Dense(3, 4))
	second := hyper.Model{Base: line, Hyper: hyper.Ensemble{Particles: 4, Params: 3}}
	one, two := Trainer{m, Config{Integrate: Exact}}, Trainer{hyper.WithPrior{Belief: m, Prior: second},
		Config{Integrate: Exact}}
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		s := rng.New(in[0])
		both := two.Init(s.Named("init"), nil)
		sum := one.Init(s.Named("init"), nil)
		sum["fixed.prior.theta"] = Add(sum["fixed.prior.theta"], both["fixed.with.1.0"])
		return append(learned(one, sum, s, in[1]), learned(two, both, s, in[1])...)
	}, []uint64{3, 4}, randomArray(rand.New(rand.NewPCG(1, 2)), 1, problemRuns, 5, 3).float32s())
	compareHalves(t, out)
}
