package agent_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

var (
	line  = base.Linear{Features: 2}
	net   = base.MLP{Layers: []int{2, 3, 1}} // 13 parameters
	gauss = index.Gaussian{N: 4}
	nan   = math.NaN()
	inf   = math.Inf(1)
)

// good is a valid configuration of a network.
func good() agent.Config {
	return agent.Config{
		Learner: learner.Learner{Belief: hyper.Model{
			Base:  net,
			Hyper: hyper.Linear{Layout: hyper.Dense(13, 4), P: gauss},
			Prior: &hyper.Prior{Base: net, Layout: hyper.Dense(13, 4)},
		}, Train: train.Config{Capacity: 10}},
		Features: 2,
		Backend:  backend.Go,
	}
}

// wrong is a change that makes a configuration invalid, with the whole error.
type wrong struct {
	name   string
	change func(c *agent.Config)
	want   string
}

// belief sets the hypermodel, with a linear base model without a prior.
func belief(h hyper.Hypermodel) func(c *agent.Config) {
	return func(c *agent.Config) { c.Learner.Belief = hyper.Model{Base: line, Hyper: h} }
}

func ofModel(change func(m *hyper.Model)) func(c *agent.Config) {
	return func(c *agent.Config) {
		m := c.Learner.Belief.(hyper.Model)
		change(&m)
		c.Learner.Belief = m
	}
}

func ofBase(b hyper.BaseModel) func(c *agent.Config) {
	return ofModel(func(m *hyper.Model) { m.Base, m.Prior = b, nil })
}

func ofIndex(d index.Distribution) func(c *agent.Config) {
	return belief(hyper.Linear{Layout: hyper.Dense(2, 4), P: d})
}

func ofPrior(change func(p *hyper.Prior)) func(c *agent.Config) {
	return ofModel(func(m *hyper.Model) {
		p := *m.Prior
		change(&p)
		m.Prior = &p
	})
}

func ofPolicy(p explore.Policy) func(c *agent.Config) {
	return func(c *agent.Config) { c.Learner.Policy = p }
}

func ofTrain(change func(c *train.Config)) func(c *agent.Config) {
	return func(c *agent.Config) { change(&c.Learner.Train) }
}

const huge = 1 << 40

var wrongModels = []wrong{
	{"no model", func(c *agent.Config) { c.Learner.Belief = hyper.Model{} },
		"Learner.Belief: Base is missing\nLearner.Belief: Hyper is missing"},
	{"no hypermodel", belief(nil), "Learner.Belief: Hyper is missing"},
	{"pointer to a hypermodel", belief(&hyper.Linear{Layout: hyper.Dense(2, 4), P: gauss}),
		"Learner.Belief: Hyper is a pointer, *hyper.Linear; pass the value, hyper.Linear"},
	{"nil pointer", belief((*hyper.Ensemble)(nil)),
		"Learner.Belief: Hyper is a pointer, *hyper.Ensemble; pass the value, hyper.Ensemble"},
	{"linear: no index", belief(hyper.Linear{Layout: hyper.Dense(2, 4)}),
		"Learner.Belief: hyper.Linear: P: the distribution of the index is missing"},
	{"linear: no layout", belief(hyper.Linear{P: gauss}),
		"Learner.Belief: hyper.Linear: a layout needs at least one block and a positive index Width, got 0 blocks of width 0"},
	{"linear: block", belief(hyper.Linear{Layout: hyper.Layout{Sizes: []int{3, -1}, Width: 2}, P: gauss}),
		"Learner.Belief: hyper.Linear: block 1 of the layout has size -1; sizes must be positive"},
	{"linear: huge block", belief(hyper.Linear{Layout: hyper.Layout{Sizes: []int{math.MaxInt, math.MaxInt}, Width: 2},
		P: gauss}), "Learner.Belief: hyper.Linear: the blocks of the layout have more than 2147483647 rows"},
	{"linear: huge", belief(hyper.Linear{Layout: hyper.Dense(huge/1000, huge), P: index.Gaussian{N: 4}}),
		"Learner.Belief: hyper.Linear: the matrix of the layout, rows x Width, would be [1099511627 1099511627776] numbers; at most 2147483647 are possible\n" +
			"Learner.Belief: hyper.Linear: an index of the layout, blocks x Width, would be [1 1099511627776] numbers; at most 2147483647 are possible"},
	{"linear: index too long", belief(hyper.Linear{Layout: hyper.Dense(2, 3), P: gauss}),
		"Learner.Belief: the layout needs an index of dimension 3, but p_z has 4"},
	{"linear: parameters", belief(hyper.Linear{Layout: hyper.Dense(3, 4), P: gauss}),
		"Learner.Belief: the hypermodel makes 3 parameters, but the base model has 2"},
	{"linear: negative", belief(hyper.Linear{Layout: hyper.PerParameter(-3, 2), P: gauss}),
		"Learner.Belief: hyper.Linear: a layout needs at least one block and a positive index Width, got 0 blocks of width 2"},
	{"ensemble", belief(hyper.Ensemble{Particles: -1}),
		"Learner.Belief: hyper.Ensemble: Particles must be at least 1, got -1\nLearner.Belief: hyper.Ensemble: Params must be at least 1, got 0"},
	{"ensemble: huge", belief(hyper.Ensemble{Particles: huge, Params: huge}),
		"Learner.Belief: hyper.Ensemble: Particles x Params would be [1099511627776 1099511627776] numbers; at most 2147483647 are possible"},
	{"mean field", belief(hyper.MeanField{Deviation: -1}),
		"Learner.Belief: hyper.MeanField: Params must be at least 1, got 0\nLearner.Belief: hyper.MeanField: Deviation must be finite and not negative, got -1"},
	{"mean field: NaN", belief(hyper.MeanField{Params: 2, Deviation: nan}),
		"Learner.Belief: hyper.MeanField: Deviation must be finite and not negative, got NaN"},
	{"mean field: infinite", belief(hyper.MeanField{Params: 2, Deviation: inf}),
		"Learner.Belief: hyper.MeanField: Deviation must be finite and not negative, got +Inf"},
	{"network", belief(hyper.Network{Hidden: []int{0}, Activation: 99}),
		"Learner.Belief: hyper.Network: P: the distribution of the index is missing\n" +
			`Learner.Belief: hyper.Network: Activation: unknown 99; choose relu, tanh or identity` + "\n" +
			"Learner.Belief: hyper.Network: Params must be at least 1, got 0\nLearner.Belief: hyper.Network: Hidden must be positive widths, got [0]"},
	{"network: huge", belief(hyper.Network{P: gauss, Hidden: []int{huge}, Params: 2}),
		"Learner.Belief: hyper.Network: base.MLP: the weights of layer 1 of [4 1099511627776 2] would be [4 1099511627776] numbers; at most 2147483647 are possible"},
	{"one-sparse", belief(hyper.OneSparse{Alpha: -1, Beta: nan}),
		"Learner.Belief: hyper.OneSparse: N must be at least 1, got 0\nLearner.Belief: hyper.OneSparse: Alpha must be finite and not negative, got -1\nLearner.Belief: hyper.OneSparse: Beta must be positive and finite, got NaN"},
	{"dropout: empty", belief(hyper.Dropout{}),
		"Learner.Belief: hyper.Dropout: Net: base.MLP: Layers need at least an input width and an output width, got []\nLearner.Belief: hyper.Dropout: Keep must be in (0, 1], got 0"},
	{"dropout: no hidden layers", belief(hyper.Dropout{Net: base.MLP{Layers: []int{2, 1}}, Keep: nan}),
		"Learner.Belief: hyper.Dropout: Net needs hidden layers, got widths [2 1]\nLearner.Belief: hyper.Dropout: Keep must be in (0, 1], got NaN"},
	{"dropout: another network", func(c *agent.Config) {
		c.Learner.Belief = hyper.Model{Base: net, Hyper: hyper.Dropout{Net: base.MLP{Layers: []int{2, 3, 1},
			Activation: base.ActivationTanh}, Keep: 0.5}}
	}, "Learner.Belief: hyper.Dropout: Net {[2 3 1] tanh} must be the base model, got base.MLP {[2 3 1] }"},

	{"pointer to a base model", ofBase(&base.MLP{Layers: []int{2, 3, 1}}),
		"Learner.Belief: Base is a pointer, *base.MLP; pass the value, base.MLP"},
	{"arms", ofBase(base.Tabular{}), "Learner.Belief: base.Tabular: Arms must be at least 1, got 0"},
	{"huge arms", ofBase(base.Tabular{Arms: huge}),
		"Learner.Belief: base.Tabular: Arms would be [1099511627776] numbers; at most 2147483647 are possible"},
	{"linear base", ofBase(base.Linear{Features: -2}), "Learner.Belief: base.Linear: Features must be at least 1, got -2"},
	{"no layers", ofBase(base.MLP{Activation: -1}),
		"Learner.Belief: base.MLP: Layers need at least an input width and an output width, got []\n" +
			`Learner.Belief: base.MLP: Activation: unknown -1; choose relu, tanh or identity`},
	{"width", ofBase(base.MLP{Layers: []int{2, 0, 1}}),
		"Learner.Belief: base.MLP: Layers must be positive widths, got [2 0 1]"},
	{"two outputs", ofBase(base.MLP{Layers: []int{2, 3, 2}}),
		"Learner.Belief: Base must predict one number, but its last layer has 2"},
	{"no parameters", ofBase(constant{}), "Learner.Belief: Base: the number of parameters must be at least 1, got 0"},

	{"Gaussian", ofIndex(index.Gaussian{}),
		"Learner.Belief: hyper.Linear: P: index.Gaussian: the length of an index must be at least 1, got 0"},
	{"pointer to an index", ofIndex(&index.Gaussian{N: 4}),
		"Learner.Belief: hyper.Linear: P: the distribution of the index is a pointer, *index.Gaussian; pass the value, index.Gaussian"},
	{"sphere", ofIndex(index.Sphere{N: -1}),
		"Learner.Belief: hyper.Linear: P: index.Sphere: the length of an index must be at least 1, got -1"},
	{"one-hot", ofIndex(index.OneHot{}),
		"Learner.Belief: hyper.Linear: P: index.OneHot: the length of an index must be at least 1, got 0"},
	{"Bernoulli", ofIndex(index.Bernoulli{Keep: 2}),
		"Learner.Belief: hyper.Linear: P: index.Bernoulli: N must be at least 1, got 0\nLearner.Belief: hyper.Linear: P: index.Bernoulli: Keep must be in (0, 1], got 2"},
	{"per arm", ofIndex(index.PerArm{Arms: -1}),
		"Learner.Belief: hyper.Linear: P: index.PerArm: Arms must be at least 1, got -1\nLearner.Belief: hyper.Linear: P: index.PerArm: M must be at least 1, got 0"},
	{"per arm: huge", ofIndex(index.PerArm{Arms: 1 << 30, M: 1 << 10}),
		"Learner.Belief: hyper.Linear: P: index.PerArm: an index of Arms x M would be [1073741824 1024] numbers; at most 2147483647 are possible"},
	{"per arm of no arms", ofIndex(index.PerArm{Arms: 2, M: 2}),
		"Learner.Belief: an index per arm, here of 2 arms, needs a tabular base model of as many, got {2 false}"},

	{"prior: layout", ofPrior(func(p *hyper.Prior) { p.Layout = hyper.Layout{} }),
		"Learner.Belief: prior: a layout needs at least one block and a positive index Width, got 0 blocks of width 0"},
	{"prior: pointer", ofPrior(func(p *hyper.Prior) { p.Base = &net }),
		"Learner.Belief: prior: Base is a pointer, *base.MLP; pass the value, base.MLP"},
	{"prior: base", ofPrior(func(p *hyper.Prior) { p.Base = base.Linear{} }),
		"Learner.Belief: prior: base.Linear: Features must be at least 1, got 0"},
	{"prior: inputs", ofPrior(func(p *hyper.Prior) { p.Base, p.Layout = base.Linear{Features: 3}, hyper.Dense(3, 4) }),
		"Learner.Belief: prior: Base takes inputs of 3 features, but the model's base model takes 2"},
	{"prior: rows, law and index", ofPrior(func(p *hyper.Prior) {
		p.Layout, p.Rows, p.StdDev = hyper.Dense(12, 3), 9,
			[]float64{1}
	}), "Learner.Belief: prior: the layout has 12 rows, but the base model has 13 parameters\n" +
		"Learner.Belief: prior: the layout needs an index of dimension 3, but the hypermodel's has 4\n" +
		`Learner.Belief: prior: Rows: unknown 9; choose gaussian or sphere` +
		"\nLearner.Belief: prior: StdDev has 1 standard deviations for 13 parameters"},
	{"prior: negative", ofPrior(func(p *hyper.Prior) { p.StdDev = append(make([]float64, 12), -1) }),
		"Learner.Belief: prior: StdDev must be finite and not negative, got -1 for parameter 12"},
	{"prior: NaN", ofPrior(func(p *hyper.Prior) { p.StdDev = append(make([]float64, 12), nan) }),
		"Learner.Belief: prior: StdDev must be finite and not negative, got NaN for parameter 12"},
	{"prior: infinite", ofPrior(func(p *hyper.Prior) { p.StdDev = append(make([]float64, 12), inf) }),
		"Learner.Belief: prior: StdDev must be finite and not negative, got +Inf for parameter 12"},
}

var wrongConfigs = []wrong{
	{"features", func(c *agent.Config) { c.Features = 5 }, "Features must be 2, the inputs of Learner.Belief, got 5"},
	{"no features", func(c *agent.Config) { c.Features = 0 }, "Features must be 2, the inputs of Learner.Belief, got 0"},
	{"negative features", func(c *agent.Config) { c.Features = -1 }, "Features must be at least 0, got -1"},
	{"features of arms", func(c *agent.Config) { c.Learner.Belief, c.Features = armsModel(3, 2), 3 },
		"Features must be 0, the inputs of Learner.Belief, got 3"},
	{"capacity", ofTrain(func(c *train.Config) { c.Capacity = -1 }), "Learner.Train.Capacity must be at least 1, got -1"},
	{"huge capacity", ofTrain(func(c *train.Config) { c.Capacity = math.MaxInt }),
		"Learner.Train.Capacity x the width of the data's perturbations would be [9223372036854775807 4] numbers; at most 2147483647 are possible\n" +
			"Learner.Train.Capacity x Inputs would be [9223372036854775807 2] numbers; at most 2147483647 are possible"},
	{"train", ofTrain(func(c *train.Config) { c.Steps, c.Batch, c.Indices = -1, -2, -3 }),
		"Learner.Train.Steps must be at least 1, got -1\nLearner.Train.Batch must be at least 1, got -2\nLearner.Train.Indices must be at least 1, got -3"},
	{"huge train", ofTrain(func(c *train.Config) { c.Steps, c.Batch, c.Indices = huge, huge, huge }),
		"Learner.Train.Steps x Batch would be [1099511627776 1099511627776] numbers; at most 2147483647 are possible\n" +
			"Learner.Train.Steps x Indices x the length of an index would be [1099511627776 1099511627776 4] numbers; at most 2147483647 are possible\nLearner.Train.Indices x parameters would be [1099511627776 13] numbers; at most 2147483647 are possible"},
	{"names", ofTrain(func(c *train.Config) {
		c.Optimizer, c.Integrate, c.IndexSet, c.Regularize = train.Adam{Beta1: 2}, 99, -1, 4
	}), `Learner.Train.Optimizer: Beta1 must be in [0, 1), got 2` + "\n" +
		`Learner.Train.Integrate: unknown 99; choose sampled, analytic, full-data or exact` + "\n" +
		`Learner.Train.IndexSet: unknown -1; choose iid, antithetic, frame, per-datum or axes` + "\n" +
		`Learner.Train.Regularize: unknown 4; choose anchor, kl or decay`},
	{"odd frame", ofTrain(func(c *train.Config) { c.IndexSet, c.Indices = train.Frame, 15 }),
		"Learner.Train.IndexSet frame needs an even number of Indices, got 15"},
	{"analytic network", ofTrain(func(c *train.Config) { c.Integrate = train.Analytic }),
		"Learner.Train.Integrate analytic needs a base model that is linear in its parameters; use sampled"},
	{"kl", ofTrain(func(c *train.Config) { c.Regularize = train.KL }),
		"Learner.Train.Regularize kl needs a mean-field hypermodel; use anchor"},
	{"numbers", func(c *agent.Config) {
		c.Learner.StepSize, c.Learner.NoiseVariance, c.Learner.PriorVariance, c.Learner.Perturbation, c.Learner.MapStep,
			c.Learner.Clip, c.Learner.KL, c.Backend = -1, nan, inf, nan, -1, nan, -inf, "tpu"
	}, "Learner.StepSize must be positive and finite, got -1\nLearner.NoiseVariance must be positive and finite, got NaN\nLearner.PriorVariance must be positive and finite, got +Inf\n" +
		"Learner.InitVariance must be finite, got +Inf\nLearner.Perturbation must be finite, got NaN\nLearner.MapStep must be positive and finite, got -1\nLearner.Clip must be finite and not negative, got NaN\nLearner.KL must be finite, got -Inf\n" +
		`Backend: unknown backend "tpu"; choose one of go, xla:cpu, xla:cuda`},
	{"Thompson", ofPolicy(explore.Thompson{N: -1}),
		"Learner.Policy: explore.Thompson: N, the number of functions for a decision (0 means the default), must be at least 1, got -1"},
	{"pointer to a policy", ofPolicy(&explore.Thompson{}),
		"Learner.Policy: the policy is a pointer, *explore.Thompson; pass the value, explore.Thompson"},
	{"greedy", ofPolicy(explore.Greedy{N: -2}),
		"Learner.Policy: explore.Greedy: N, the number of functions for a decision (0 means the default), must be at least 1, got -2"},
	{"epsilon-greedy", ofPolicy(explore.EpsilonGreedy{N: -2}),
		"Learner.Policy: explore.EpsilonGreedy: N, the number of functions for a decision (0 means the default), must be at least 1, got -2"},
	{"IDS", ofPolicy(explore.IDS{N: -2}),
		"Learner.Policy: explore.IDS: N, the number of functions for a decision (0 means the default), must be at least 1, got -2"},
	{"UCB", ofPolicy(explore.UCB{N: -2, Quantile: nan}),
		"Learner.Policy: explore.UCB: N, the number of functions for a decision (0 means the default), must be at least 1, got -2\nLearner.Policy: explore.UCB: Quantile must be in (0, 1], or 0 for the default, got NaN"},
	{"top-two", ofPolicy(explore.TopTwo{N: 1, Beta: 1.5}),
		"Learner.Policy: explore.TopTwo: N must be at least 2, or 0 for 30, got 1\nLearner.Policy: explore.TopTwo: Beta must be in (0, 1], or 0 for the default, got 1.5"},
	{"reward", func(c *agent.Config) { c.Reward = agent.Reward{Wait: -1, Combine: 9, Default: new(float32)} },
		"Reward.Combine: unknown 9; choose first, sum, max or last\nReward.Wait must not be negative, got -1ns"},
	{"reward without a wait", func(c *agent.Config) { c.Reward.Combine = agent.Sum }, "Reward.Wait must be set with a " +
		"Default, or with a Combine other than first: it is the time for which the agent waits for rewards"},
	{"a wait for nothing", func(c *agent.Config) { c.Reward = agent.Reward{Wait: 1, Combine: agent.First} },
		"Reward.Wait needs a Default, or a Combine other than first: without them nothing waits"},
	{"a long wait", func(c *agent.Config) { c.Expire, c.Reward = 1, agent.Reward{Wait: 2, Combine: agent.Last} },
		"Reward.Wait must be at most Expire, 1ns, got 2ns"},
	{"default", func(c *agent.Config) { c.Reward = silent(float32(nan)) },
		"Reward.Default: the reward is too large, or not finite: it must be between -1e18 and 1e18, got NaN"},
	{"default of the loss", func(c *agent.Config) { c.Reward, c.Learner.Train.Loss = silent(-1), train.LogisticLoss{} },
		"Reward.Default: wrong reward: a response of the logistic loss must be in [0, 1], got -1"},
	{"many", func(c *agent.Config) {
		c.Learner.Belief, c.Learner.Policy, c.Learner.StepSize, c.Floor = hyper.Model{Base: line}, explore.IDS{N: -1}, -1, 2
	}, "Learner.Belief: Hyper is missing\nLearner.StepSize must be positive and finite, got -1\nLearner.Policy: explore.IDS: N, the number of functions for a decision (0 means the default), must be at least 1, got -1\nthe Floor must be at most 1, or negative for none, got 2"},
	// The inputs of a user's own base model are known from the graph that it builds.
	{"own base model", func(c *agent.Config) {
		c.Learner.Belief, c.Features = hyper.Model{Base: scaled{line}, Hyper: hyper.Ensemble{Particles: 2, Params: 2}}, 3
	}, "Learner.Belief: hyper.Model cannot be applied to inputs of 3 features: "},
}

// constant is a base model without parameters.
type constant struct{}

func (constant) Groups() []int              { return nil }
func (constant) Apply(theta, _ *Node) *Node { return theta }

// scaled is a user's own base model, which declares neither its inputs nor a gradient.
type scaled struct{ line base.Linear }

func (s scaled) Groups() []int              { return s.line.Groups() }
func (s scaled) Apply(theta, x *Node) *Node { return MulScalar(s.line.Apply(theta, x), 2) }

// Every invalid field of every part gives its own error and no other, and the text is always the same.
func TestWrongConfigurations(t *testing.T) {
	for _, w := range slices.Concat(wrongModels, wrongConfigs) {
		for range 3 {
			c := good()
			w.change(&c)
			a, err := agent.New(c)
			if a != nil || err == nil || err.Error() != w.want && !(strings.HasSuffix(w.want, ": ") &&
				strings.HasPrefix(err.Error(), w.want)) {
				t.Errorf("%s: error\n%v\nwant\n%s", w.name, err, w.want)
				break
			}
		}
	}
	for want, c := range map[string]agent.Config{
		"Arms: k must be at least 1, got 0":           agent.Config{}.Arms(0),
		"Linear: features must be at least 1, got -1": agent.Config{}.Linear(-1),
		"Neural: features must be at least 1, got 0":  agent.Config{}.Neural(0, 3),
		"Neural: features must be at least 1, got -1": agent.Config{}.Neural(-1, 3),
		"Contextual: k must be at least 1, got -2\nContextual: context must be at least 1, got 0": agent.Config{}.
			Contextual(-2, 0),
	} {
		if _, err := agent.New(c); err == nil || err.Error() != want {
			t.Errorf("error\n%v\nwant\n%s", err, want)
		}
		if err := agent.Check(c, filepath.Join("testdata", "agent-4")); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("of a file: error\n%v\nwant\n%s", err, want)
		}
	}
	if _, err := agent.New(agent.Config{}.Arms(0).Arms(2)); err != nil {
		t.Errorf("Arms(0).Arms(2): got error %v, want none", err)
	}
	if _, err := agent.New(good()); err != nil {
		t.Errorf("valid configuration: got error %v, want none", err)
	}
}
