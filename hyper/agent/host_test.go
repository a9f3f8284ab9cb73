package agent

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// hostedBeliefs returns agents that decide in plain Go, for inputs with 4 features, for 6 arms, and for blocks.
func hostedBeliefs() map[string]Config {
	net, line := base.MLP{Layers: []int{4, 6, 5, 1}}, base.Linear{Features: 4, Intercept: true}
	n := hyper.NumTheta(net)
	of := func(features int, b hyper.Belief) Config {
		c := Config{Features: features, Seed: 7, Learner: learner.Learner{Belief: b, NoiseVariance: 0.3}}
		c.Learner.Train.Capacity = 300
		return c
	}
	dense := func(b hyper.BaseModel, p *hyper.Prior) hyper.Model {
		return hyper.Model{Base: b, Prior: p, Hyper: hyper.Linear{Layout: hyper.Dense(hyper.NumTheta(b), 8),
			P: index.Gaussian{N: 8}}}
	}
	tanh := base.MLP{Layers: []int{4, 3, 1}, Activation: base.ActivationTanh}
	groups := hyper.PerGroup(net, 3)
	waves := hyper.BayesianLinear{Waves: 20, Length: 1}
	blocks, numbered := waves, waves
	blocks.Features, blocks.Blocks = 12, 3
	numbered.Features, numbered.Blocks, numbered.Numbered = 5, 3, true
	lined, lines := numbered, blocks
	lined.Line, lines.Line = true, true
	scaled := of(5, numbered)
	scaled.Learner.Train.Standardize = true
	return map[string]Config{
		"bayesian, standardised": scaled,
		"bayesian, line":         of(5, lined),
		"bayesian, lines":        of(12, lines),
		"arms":                   Config{Seed: 7}.Arms(6),
		"arms, dense":            of(0, dense(base.Tabular{Arms: 6}, nil)),
		"linear":                 Config{Seed: 7}.Linear(4),
		"linear, SGD":            of(4, dense(line, &hyper.Prior{Base: line, Layout: hyper.Dense(5, 8)})),
		"neural":                 Config{Seed: 7}.Neural(4, 6, 5),
		"neural, dense":          of(4, dense(net, &hyper.Prior{Base: net, Layout: hyper.Dense(n, 8)})),
		"neural, smaller prior":  of(4, dense(net, &hyper.Prior{Base: tanh, Layout: hyper.Dense(hyper.NumTheta(tanh), 8)})),
		"neural, prior in theta": of(4, dense(net, &hyper.Prior{Layout: hyper.Dense(n, 8)})),
		"neural, no prior":       of(4, dense(net, nil)),
		"neural, diagonal C, dense prior": of(4, hyper.Model{Base: net, Prior: &hyper.Prior{Layout: hyper.Dense(n, n)},
			Hyper: hyper.Linear{Layout: hyper.PerParameter(n, 1), P: index.Gaussian{N: n}}}),
		"neural, layers": of(4, hyper.Model{Base: net, Hyper: hyper.Linear{Layout: groups,
			P: index.Gaussian{N: groups.IndexDim()}}}),
		"bayesian":        of(4, hyper.BayesianLinear{Features: 4}),
		"bayesian, plain": of(4, hyper.BayesianLinear{Features: 4, Plain: true}),
		"ensemble++": of(4, hyper.EnsemblePlusPlus{Features: 4,
			P: index.Paired{N: 6, Reference: index.LawGaussian, Noise: index.LawCube}}),
		"bayesian, waves":    of(4, waves.ForInputs(4)),
		"bayesian, blocks":   of(12, blocks),
		"bayesian, numbered": of(5, numbered),
		"logistic":           logistic(of(4, dense(line, nil))),
	}
}

func logistic(c Config) Config {
	c.Learner.Train.Loss, c.Learner.Train.Integrate, c.Learner.Perturbation = train.LogisticLoss{}, train.Sampled, -1
	c.Learner.NoiseVariance = 1
	return c
}

// inputsFor draws inputs of an agent; sometimes it returns nil, which means all arms.
func inputsFor(r *rand.Rand, name string, c Config, n int) [][]float32 {
	if c.Features == 0 && r.IntN(2) == 0 {
		return nil
	}
	x := make([][]float32, n)
	for i := range x {
		x[i] = make([]float32, max(c.Features, 1))
		switch name {
		case "bayesian, blocks", "bayesian, lines":
			for k := range 4 {
				x[i][i%3*4+k] = float32(r.NormFloat64())
			}
			continue
		case "bayesian, numbered", "bayesian, standardised", "bayesian, line":
			x[i][0] = float32(i % 3)
		}
		for k := range x[i] {
			if c.Features == 0 {
				x[i][k] = float32(i % 6)
			} else if k > 0 || c.Features != 5 {
				x[i][k] = float32(r.NormFloat64())
			}
		}
	}
	return x
}

// Decisions in plain Go equal the decisions of the programs: they take the same actions. Their probabilities differ at
// most by the share of one or two functions whose best actions are almost equal.
func TestDecisionsOnHost(t *testing.T) {
	policies := []explore.Policy{explore.Thompson{}, explore.Thompson{N: 20}, explore.UCB{N: 20, Quantile: 0.8},
		explore.EpsilonGreedy{N: 10},
		explore.IDS{N: 20}}
	testbackend.ForEach(t, func(t *testing.T, on string) {
		beliefs := hostedBeliefs()
		for i, name := range slices.Sorted(maps.Keys(beliefs)) {
			c, differ, decisions := beliefs[name], 0, 0
			for k, p := range policies {
				if (k != 1 || testing.Short()) && k != i%len(policies) {
					continue // each policy decides for a fifth of the beliefs
				}
				if on != "go" && (k != 1 || name != "neural") {
					continue // XLA takes seconds to compile, and other beliefs have the same programs on both backends
				}
				c.Learner.Policy, c.Backend = p, on
				a, r := must.M1(New(c)), rand.New(rand.NewPCG(1, uint64(k)))
				for i := range 12 {
					n := []int{3, 6, 8}[i%3] // as programs pad none
					if on != "go" {
						n = 3
					}
					x := inputsFor(r, name, a.config, n)
					_, belief := a.belief()
					number := a.decisions.Add(1) - 1
					d, ok, err := a.decideOnHost(belief, x, number)
					if err != nil || !ok {
						t.Fatalf("%s: decision in plain Go: got %v, error %v, want one without an error", name, ok, err)
					}
					want := must.M1(a.decide(belief, x, padded(len(x)), number))
					belief.drop()
					decisions++
					off := 0.0
					for j, q := range want.Probabilities {
						off += math.Abs(float64(q-d.Probabilities[j])) / 2
					}
					if d.Action != want.Action || off > 1e-5 {
						differ++
					}
					if len(d.Probabilities) != len(want.Probabilities) || off > 0.11 && p.Samples() == 20 {
						t.Errorf("%s, %#v, decision %d: got %v, and %v by a program", name, p, i, d, want)
					}
					at := []float32{float32(d.Action)}
					if x != nil {
						at = x[d.Action]
					}
					if i < 7 {
						must.M(a.Told(at, float32(r.IntN(2))))
					}
				}
			}
			if differ > max(decisions/50, 1) { // one may be a tie
				t.Errorf("%s: %d of %d decisions differ from the programs', want at most 2%% or one", name, differ, decisions)
			}
		}
	})
}

// After more decisions than 32 bits count, epsilon-greedy still takes few random actions.
func TestManyDecisions(t *testing.T) {
	c := Config{Backend: "go", Floor: None}.Arms(3)
	c.Learner.Policy = explore.EpsilonGreedy{N: 10}
	a := must.M1(New(c))
	_, belief := a.belief()
	defer belief.drop()
	x := [][]float32{{0}, {1}, {2}}
	for _, number := range []uint64{1 << 31, 1<<32 - 30, 1<<32 + 3, 5 << 32} {
		hosted, _ := must.M2(a.decideOnHost(belief, x, number))
		for _, d := range []Decision{hosted, must.M1(a.decide(belief, x, 3, number))} {
			if p := slices.Max(d.Probabilities); !(p > 0.999) {
				t.Errorf("decision %d has probabilities %v, want one near 1", number, d.Probabilities)
			}
		}
	}
}

// reversed is a linear model that predicts the opposite, and cautious is a policy that always takes the same action.
type (
	reversed struct{ base.Linear }
	cautious struct{ explore.Thompson }
)

func (r reversed) Apply(theta, x *Node) *Node { return Neg(r.Linear.Apply(theta, x)) }

func (cautious) Decide(values *Node, _ explore.Moment) (probabilities, action *Node) {
	first := Iota(values.Graph(), shapes.Make(dtypes.Int32, 1, values.Shape().Dim(2)), 1)
	is := ConvertDType(Equal(first, ZerosLike(first)), values.DType())
	return is, ArgMax(is, 1, dtypes.Int32)
}

// A type that changes a method of an embedded belief or policy is used by a program, because the embedded plain-Go form
// does not have the change.
func TestEmbeddedPartsAreNotHosted(t *testing.T) {
	x := [][]float32{{1, 0, 0, 0}, {0, 1, 0, 0}}
	for name, c := range map[string]Config{
		"base": {Features: 4, Learner: learner.Learner{Policy: explore.Thompson{},
			Belief: hyper.Model{Base: reversed{base.Linear{Features: 4}}, Hyper: hyper.Ensemble{Particles: 3, Params: 4}},
			Train:  train.Config{Integrate: train.Sampled, Capacity: 10}}},
		"policy": {Features: 4, Learner: learner.Learner{Belief: hyper.BayesianLinear{Features: 4}, Policy: cautious{}}},
	} {
		c.Backend, c.Floor = "go", -1
		a := must.M1(New(c))
		must.M1(a.Act(t.Context(), x))
		if len(a.programs.all) != 1 {
			t.Errorf("%s: the decision was made in plain Go, want a program", name)
		}
	}
}

// Numbers that are not finite are refused in plain Go too. A belief without a plain-Go form decides by a program.
func TestHostRefuses(t *testing.T) {
	a := must.M1(New(hostedBeliefs()["linear"]))
	huge := [][]float32{{1e18, 1e18, 1e18, 1e18}, {-1e18, 0, 0, 0}}
	nan := func(x []float64) { x[0] = math.NaN() }
	must.M(tensors.MutableFlatData(a.now.state[a.place("nu.0")].Tensor, nan))
	if _, err := a.Act(t.Context(), huge); !errors.Is(err, ErrNotFinite) {
		t.Error(err)
	}
	c := hostedBeliefs()["bayesian, numbered"]
	b := must.M1(New(c))
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{700, 800} { // of three blocks: a third of them, and 256 of one at most
		d := must.M1(b.Act(t.Context(), inputsFor(r, "bayesian, numbered", b.config, n)))
		if len(d.Probabilities) != n {
			t.Errorf("got %d probabilities, want %d", len(d.Probabilities), n)
		}
	}
	if len(b.programs.all) != 1 {
		t.Errorf("%d programs, want one, of more than 256 inputs of a block", len(b.programs.all))
	}
}
