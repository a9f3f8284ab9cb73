package agent_test

import (
	"math"
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
	"github.com/hypermodels/hypermodels/hyper/train"
)

var (
	line  = base.Linear{Features: 2}
	net   = base.MLP{Layers: []int{2, 3, 1}} // 13 parameters
	gauss = index.Gaussian{N: 4}
	nan   = math.NaN()
	inf   = math.Inf(1)
)

// good is a configuration without fault, of a network.
func good() agent.Config {
	return agent.Config{
		Model: hyper.Model{
			Base:  net,
			Hyper: hyper.Linear{Layout: hyper.Dense(13, 4), P: gauss},
			Prior: &hyper.Prior{Base: net, Layout: hyper.Dense(13, 4)},
		},
		Features: 2, Train: train.Config{Capacity: 10}, Backend: backend.Go,
	}
}

// wrong is a change that makes a configuration wrong, and the whole error it gives.
type wrong struct {
	name   string
	change func(c *agent.Config)
	want   string
}

// belief sets the hypermodel, of a linear base model without a prior.
func belief(h hyper.Hypermodel) func(c *agent.Config) {
	return func(c *agent.Config) { c.Model = hyper.Model{Base: line, Hyper: h} }
}

func ofBase(b hyper.BaseModel) func(c *agent.Config) {
	return func(c *agent.Config) { c.Model.Base, c.Model.Prior = b, nil }
}

func ofIndex(d index.Distribution) func(c *agent.Config) {
	return belief(hyper.Linear{Layout: hyper.Dense(2, 4), P: d})
}

func ofPrior(change func(p *hyper.Prior)) func(c *agent.Config) {
	return func(c *agent.Config) {
		p := *c.Model.Prior
		change(&p)
		c.Model.Prior = &p
	}
}

func ofPolicy(p explore.Policy) func(c *agent.Config) {
	return func(c *agent.Config) { c.Policy = p }
}

func ofTrain(change func(c *train.Config)) func(c *agent.Config) {
	return func(c *agent.Config) { change(&c.Train) }
}

const huge = 1 << 40

var wrongModels = []wrong{
	{"no model", func(c *agent.Config) { c.Model = hyper.Model{} }, "Model: Base is missing\nModel: Hyper is missing"},
	{"no hypermodel", belief(nil), "Model: Hyper is missing"},
	{"pointer to a hypermodel", belief(&hyper.Linear{Layout: hyper.Dense(2, 4), P: gauss}), "Model: Hyper is a pointer, *hyper.Linear; pass the value, hyper.Linear"},
	{"nil pointer", belief((*hyper.Ensemble)(nil)), "Model: Hyper is a pointer, *hyper.Ensemble; pass the value, hyper.Ensemble"},
	{"linear: no index", belief(hyper.Linear{Layout: hyper.Dense(2, 4)}), "Model: hyper.Linear: P: the distribution of the index is missing"},
	{"linear: no layout", belief(hyper.Linear{P: gauss}), "Model: hyper.Linear: a layout needs at least one block and a positive index Width, got 0 blocks of width 0"},
	{"linear: block", belief(hyper.Linear{Layout: hyper.Layout{Sizes: []int{3, -1}, Width: 2}, P: gauss}), "Model: hyper.Linear: block 1 of the layout has size -1; sizes must be positive"},
	{"linear: huge block", belief(hyper.Linear{Layout: hyper.Layout{Sizes: []int{math.MaxInt, math.MaxInt}, Width: 2}, P: gauss}), "Model: hyper.Linear: the blocks of the layout have more than 2147483647 rows"},
	{"linear: huge", belief(hyper.Linear{Layout: hyper.Dense(huge/1000, huge), P: index.Gaussian{N: 4}}), "Model: hyper.Linear: the matrix of the layout, rows x Width, would be [1099511627 1099511627776] numbers; at most 2147483647 are possible\n" +
		"Model: hyper.Linear: an index of the layout, blocks x Width, would be [1 1099511627776] numbers; at most 2147483647 are possible"},
	{"linear: index too long", belief(hyper.Linear{Layout: hyper.Dense(2, 3), P: gauss}), "Model: the layout needs an index of dimension 3, but p_z has 4"},
	{"linear: parameters", belief(hyper.Linear{Layout: hyper.Dense(3, 4), P: gauss}), "Model: the hypermodel makes 3 parameters, but the base model has 2"},
	{"linear: negative", belief(hyper.Linear{Layout: hyper.PerParameter(-3, 2), P: gauss}), "Model: hyper.Linear: a layout needs at least one block and a positive index Width, got 0 blocks of width 2"},
	{"ensemble", belief(hyper.Ensemble{Particles: -1}), "Model: hyper.Ensemble: Particles must be at least 1, got -1\nModel: hyper.Ensemble: Params must be at least 1, got 0"},
	{"ensemble: huge", belief(hyper.Ensemble{Particles: huge, Params: huge}), "Model: hyper.Ensemble: Particles x Params would be [1099511627776 1099511627776] numbers; at most 2147483647 are possible"},
	{"mean field", belief(hyper.MeanField{Deviation: -1}), "Model: hyper.MeanField: Params must be at least 1, got 0\nModel: hyper.MeanField: Deviation must be finite and not negative, got -1"},
	{"mean field: NaN", belief(hyper.MeanField{Params: 2, Deviation: nan}), "Model: hyper.MeanField: Deviation must be finite and not negative, got NaN"},
	{"mean field: infinite", belief(hyper.MeanField{Params: 2, Deviation: inf}), "Model: hyper.MeanField: Deviation must be finite and not negative, got +Inf"},
	{"network", belief(hyper.Network{Hidden: []int{0}, Activation: "tahn"}), "Model: hyper.Network: P: the distribution of the index is missing\n" +
		`Model: hyper.Network: unknown Activation "tahn" (did you mean "tanh"?); choose relu, tanh or identity` + "\n" +
		"Model: hyper.Network: Params must be at least 1, got 0\nModel: hyper.Network: Hidden must be positive widths, got [0]"},
	{"network: huge", belief(hyper.Network{P: gauss, Hidden: []int{huge}, Params: 2}), "Model: hyper.Network: base.MLP: the weights of layer 1 of [4 1099511627776 2] would be [4 1099511627776] numbers; at most 2147483647 are possible"},
	{"one-sparse", belief(hyper.OneSparse{Alpha: -1, Beta: nan}), "Model: hyper.OneSparse: N must be at least 1, got 0\nModel: hyper.OneSparse: Alpha must be finite and not negative, got -1\nModel: hyper.OneSparse: Beta must be positive and finite, got NaN"},
	{"dropout: empty", belief(hyper.Dropout{}), "Model: hyper.Dropout: Net: base.MLP: Layers need an input and an output width at least, got []\nModel: hyper.Dropout: Keep must be in (0, 1], got 0"},
	{"dropout: no hidden layers", belief(hyper.Dropout{Net: base.MLP{Layers: []int{2, 1}}, Keep: nan}), "Model: hyper.Dropout: Net needs hidden layers, got widths [2 1]\nModel: hyper.Dropout: Keep must be in (0, 1], got NaN"},
	{"dropout: another network", func(c *agent.Config) {
		c.Model = hyper.Model{Base: net, Hyper: hyper.Dropout{Net: base.MLP{Layers: []int{2, 3, 1}, Activation: "tanh"}, Keep: 0.5}}
	}, "Model: hyper.Dropout: Net {[2 3 1] tanh} must be the base model, got base.MLP {[2 3 1] }"},

	{"pointer to a base model", ofBase(&base.MLP{Layers: []int{2, 3, 1}}), "Model: Base is a pointer, *base.MLP; pass the value, base.MLP"},
	{"arms", ofBase(base.Tabular{}), "Model: base.Tabular: Arms must be at least 1, got 0"},
	{"huge arms", ofBase(base.Tabular{Arms: huge}), "Model: base.Tabular: Arms would be [1099511627776] numbers; at most 2147483647 are possible"},
	{"linear base", ofBase(base.Linear{Features: -2}), "Model: base.Linear: Features must be at least 1, got -2"},
	{"no layers", ofBase(base.MLP{Activation: "tahn"}), "Model: base.MLP: Layers need an input and an output width at least, got []\n" +
		`Model: base.MLP: unknown Activation "tahn" (did you mean "tanh"?); choose relu, tanh or identity`},
	{"width", ofBase(base.MLP{Layers: []int{2, 0, 1}}), "Model: base.MLP: Layers must be positive widths, got [2 0 1]"},
	{"two outputs", ofBase(base.MLP{Layers: []int{2, 3, 2}}), "Model: Base must predict one number, but its last layer has 2"},
	{"no parameters", ofBase(constant{}), "Model: Base: the number of parameters must be at least 1, got 0"},

	{"Gaussian", ofIndex(index.Gaussian{}), "Model: hyper.Linear: P: index.Gaussian: N must be at least 1, got 0"},
	{"pointer to an index", ofIndex(&index.Gaussian{N: 4}), "Model: hyper.Linear: P: the distribution of the index is a pointer, *index.Gaussian; pass the value, index.Gaussian"},
	{"sphere", ofIndex(index.Sphere{N: -1}), "Model: hyper.Linear: P: index.Sphere: N must be at least 1, got -1"},
	{"one-hot", ofIndex(index.OneHot{}), "Model: hyper.Linear: P: index.OneHot: N must be at least 1, got 0"},
	{"Bernoulli", ofIndex(index.Bernoulli{Keep: 2}), "Model: hyper.Linear: P: index.Bernoulli: N must be at least 1, got 0\nModel: hyper.Linear: P: index.Bernoulli: Keep must be in (0, 1], got 2"},
	{"per arm", ofIndex(index.PerArm{Arms: -1}), "Model: hyper.Linear: P: index.PerArm: Arms must be at least 1, got -1\nModel: hyper.Linear: P: index.PerArm: M must be at least 1, got 0"},
	{"per arm: huge", ofIndex(index.PerArm{Arms: 1 << 30, M: 1 << 10}), "Model: hyper.Linear: P: index.PerArm: an index of Arms x M would be [1073741824 1024] numbers; at most 2147483647 are possible"},
	{"per arm of no arms", ofIndex(index.PerArm{Arms: 2, M: 2}), "Model: an index per arm, here of 2 arms, needs a tabular base model of as many, got {2}"},

	{"prior: layout", ofPrior(func(p *hyper.Prior) { p.Layout = hyper.Layout{} }), "Model: prior: a layout needs at least one block and a positive index Width, got 0 blocks of width 0"},
	{"prior: pointer", ofPrior(func(p *hyper.Prior) { p.Base = &net }), "Model: prior: Base is a pointer, *base.MLP; pass the value, base.MLP"},
	{"prior: base", ofPrior(func(p *hyper.Prior) { p.Base = base.Linear{} }), "Model: prior: base.Linear: Features must be at least 1, got 0"},
	{"prior: inputs", ofPrior(func(p *hyper.Prior) { p.Base, p.Layout = base.Linear{Features: 3}, hyper.Dense(3, 4) }), "Model: prior: Base takes inputs of 3 features, but the model's base model takes 2"},
	{"prior: rows, law and index", ofPrior(func(p *hyper.Prior) { p.Layout, p.Rows, p.StdDev = hyper.Dense(12, 3), "gausian", []float64{1} }), "Model: prior: the layout has 12 rows, but the base model has 13 parameters\n" +
		"Model: prior: the layout needs an index of dimension 3, but the hypermodel's has 4\n" + `Model: prior: unknown law of Rows "gausian" (did you mean "gaussian"?); choose gaussian or sphere` + "\nModel: prior: StdDev has 1 standard deviations for 13 parameters"},
	{"prior: negative", ofPrior(func(p *hyper.Prior) { p.StdDev = append(make([]float64, 12), -1) }), "Model: prior: StdDev must be finite and not negative, got -1 for parameter 12"},
	{"prior: NaN", ofPrior(func(p *hyper.Prior) { p.StdDev = append(make([]float64, 12), nan) }), "Model: prior: StdDev must be finite and not negative, got NaN for parameter 12"},
	{"prior: infinite", ofPrior(func(p *hyper.Prior) { p.StdDev = append(make([]float64, 12), inf) }), "Model: prior: StdDev must be finite and not negative, got +Inf for parameter 12"},
}

var wrongConfigs = []wrong{
	{"features", func(c *agent.Config) { c.Features = 5 }, "Features must be 2, the inputs of the base model base.MLP, got 5"},
	{"no features", func(c *agent.Config) { c.Features = 0 }, "Features must be 2, the inputs of the base model base.MLP, got 0"},
	{"negative features", func(c *agent.Config) { c.Features = -1 }, "Features must be at least 0, got -1"},
	{"features of arms", func(c *agent.Config) { c.Model, c.Features = armsModel(3, 2), 3 }, "Features must be 0, the inputs of the base model base.Tabular, got 3"},
	{"capacity", ofTrain(func(c *train.Config) { c.Capacity = -1 }), "Train.Capacity must be at least 1, got -1"},
	{"huge capacity", ofTrain(func(c *train.Config) { c.Capacity = math.MaxInt }), "Train.Capacity x Features would be [9223372036854775807 2] numbers; at most 2147483647 are possible\n" +
		"Train.Capacity x the width of the data's perturbations would be [9223372036854775807 4] numbers; at most 2147483647 are possible"},
	{"train", ofTrain(func(c *train.Config) { c.Steps, c.Batch, c.Indices = -1, -2, -3 }), "Train.Steps must be at least 1, got -1\nTrain.Batch must be at least 1, got -2\nTrain.Indices must be at least 1, got -3"},
	{"huge train", ofTrain(func(c *train.Config) { c.Steps, c.Batch, c.Indices = huge, huge, huge }), "Train.Steps x Batch would be [1099511627776 1099511627776] numbers; at most 2147483647 are possible\n" +
		"Train.Steps x Indices x the length of an index would be [1099511627776 1099511627776 4] numbers; at most 2147483647 are possible\nTrain.Indices x parameters would be [1099511627776 13] numbers; at most 2147483647 are possible"},
	{"names", ofTrain(func(c *train.Config) {
		c.Optimizer, c.Integrate, c.IndexSet, c.LastLayer, c.Regularize = "adm", "sampeld", "frmae", "implict", "ancor"
	}), `Train.Optimizer: unknown "adm" (did you mean "adam"?); choose adam, adamax, rmsprop or sgd` + "\n" +
		`Train.Integrate: unknown "sampeld" (did you mean "sampled"?); choose sampled, analytic, full-data or exact` + "\n" +
		`Train.IndexSet: unknown "frmae" (did you mean "frame"?); choose iid, antithetic or frame` + "\n" +
		`Train.LastLayer: unknown "implict" (did you mean "implicit"?); choose gradient or implicit` + "\n" +
		`Train.Regularize: unknown "ancor" (did you mean "anchor"?); choose anchor or kl`},
	{"odd frame", ofTrain(func(c *train.Config) { c.IndexSet, c.Indices = train.Frame, 15 }), "Train.IndexSet frame needs an even number of Indices, got 15"},
	{"analytic network", ofTrain(func(c *train.Config) { c.Integrate = train.Analytic }), "Train.Integrate analytic needs a base model that is linear in its parameters; use sampled"},
	{"kl", ofTrain(func(c *train.Config) { c.Regularize = train.KL }), "Train.Regularize kl needs a mean-field hypermodel; use anchor"},
	{"numbers", func(c *agent.Config) {
		c.StepSize, c.NoiseVariance, c.PriorVariance, c.Perturbation, c.MapStep, c.Clip, c.KL, c.Anneal, c.Backend = -1, nan, inf, nan, -1, nan, -inf, -30, "tpu"
	}, "StepSize must be positive and finite, got -1\nNoiseVariance must be positive and finite, got NaN\nPriorVariance must be positive and finite, got +Inf\n" +
		"Perturbation must be finite, got NaN\nMapStep must be positive and finite, got -1\nClip must be finite and not negative, got NaN\nKL must be positive and finite, got -Inf\n" +
		"Anneal must be positive and finite, got -30\n" + `Backend: unknown backend "tpu"; choose one of go, xla:cpu, xla:cuda`},
	{"Thompson", ofPolicy(explore.Thompson{N: -1}), "Policy: explore.Thompson: N must be at least 0, got -1"},
	{"pointer to a policy", ofPolicy(&explore.Thompson{}), "Policy: the policy is a pointer, *explore.Thompson; pass the value, explore.Thompson"},
	{"greedy", ofPolicy(explore.Greedy{N: -2}), "Policy: explore.Greedy: N must be at least 0, got -2"},
	{"epsilon-greedy", ofPolicy(explore.EpsilonGreedy{N: -2}), "Policy: explore.EpsilonGreedy: N must be at least 0, got -2"},
	{"IDS", ofPolicy(explore.IDS{N: -2}), "Policy: explore.IDS: N must be at least 0, got -2"},
	{"UCB", ofPolicy(explore.UCB{N: -2, Quantile: nan}), "Policy: explore.UCB: N must be at least 0, got -2\nPolicy: explore.UCB: Quantile must be in (0, 1], or 0 for its default, got NaN"},
	{"top-two", ofPolicy(explore.TopTwo{N: 1, Beta: 1.5}), "Policy: explore.TopTwo: N must be at least 2, or 0 for 30, got 1\nPolicy: explore.TopTwo: Beta must be in (0, 1], or 0 for its default, got 1.5"},
	{"many", func(c *agent.Config) {
		c.Model, c.Policy, c.StepSize, c.Anneal = hyper.Model{Base: line}, explore.IDS{N: -1}, -1, nan
	}, "Model: Hyper is missing\nStepSize must be positive and finite, got -1\nPolicy: explore.IDS: N must be at least 0, got -1\nAnneal must be positive and finite, got NaN"},
	// A base model of the user's own tells its inputs by what it builds.
	{"own base model", func(c *agent.Config) {
		c.Model, c.Features = hyper.Model{Base: scaled{line}, Hyper: hyper.Ensemble{Particles: 2, Params: 2}}, 3
	}, "Model: agent_test.scaled cannot be applied to inputs of 3 features: "},
}

// constant is a base model without parameters.
type constant struct{}

func (constant) Groups() []int              { return nil }
func (constant) Apply(theta, _ *Node) *Node { return theta }

// scaled is a base model of a user's own, which knows neither its inputs nor a gradient.
type scaled struct{ line base.Linear }

func (s scaled) Groups() []int              { return s.line.Groups() }
func (s scaled) Apply(theta, x *Node) *Node { return MulScalar(s.line.Apply(theta, x), 2) }

// Every wrong field of every part gives its own error, and no other, whose text is always the same.
func TestWrongConfigurations(t *testing.T) {
	for _, w := range slices.Concat(wrongModels, wrongConfigs) {
		for range 3 {
			c := good()
			w.change(&c)
			a, err := agent.New(c)
			if a != nil || err == nil || err.Error() != w.want && !(strings.HasSuffix(w.want, ": ") && strings.HasPrefix(err.Error(), w.want)) {
				t.Errorf("%s: error\n%v\nwant\n%s", w.name, err, w.want)
				break
			}
		}
	}
	if _, err := agent.New(good()); err != nil {
		t.Errorf("without a fault: %v", err)
	}
}
