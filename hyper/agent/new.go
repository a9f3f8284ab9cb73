package agent

import (
	"cmp"
	"errors"
	"slices"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Arms returns an agent that chooses among k arms. Rewards may have any scale and offset: they are standardised as they
// come, see train.Config.Standardize. Act(ctx, nil) chooses among all arms, Act(ctx, [][]float32{{2}, {0}}) among arms
// 2 and 0: Decision.Action is then the place in this list. Options are the fields of a Config: see [Config.Arms].
func Arms(k int) (*Agent, error) { return New(Config{}.Arms(k)) }

// Linear returns an agent for rewards that are a linear function of so many features of an action, with an intercept,
// and noise. Rewards may have any scale and offset, as with [Arms]; features should have mean 0 and variance 1 or so.
// Options are the fields of a Config: see [Config.Linear].
func Linear(features int) (*Agent, error) { return New(Config{}.Linear(features)) }

// Neural returns an agent for rewards that are any function of so many features of an action, and noise: networks learn
// it, with hidden layers of these widths. Rewards may have any scale and offset, as with [Arms]; features should have
// mean 0 and variance 1 or so. Options are the fields of a Config: see [Config.Neural].
func Neural(features int, hidden ...int) (*Agent, error) {
	return New(Config{}.Neural(features, hidden...))
}

// Contextual returns an agent that chooses among k arms in a context of so many numbers: [Agent.Decide] is given the
// context. Rewards and contexts may have any scale and offset, as with [Arms]. Options are the fields of a Config: see
// [Config.Contextual].
func Contextual(k, context int) (*Agent, error) { return New(Config{}.Contextual(k, context)) }

// ContextualNeural returns an agent that chooses among k arms in a context of some numbers, as [Contextual] does, by
// the networks of [Neural], which see the arm and the context. Options are the fields of a Config: see
// [Config.ContextualNeural].
func ContextualNeural(k, context int, hidden ...int) (*Agent, error) {
	return New(Config{}.ContextualNeural(k, context, hidden...))
}

// Arms is a Config with the belief of the agent that [Arms] returns: the diagonal linear hypermodel of section 4.1,
// with 30 dimensions of the index for each arm, trained exactly. The Config's own fields are the options, as in
//
//	agent.New(agent.Config{Seed: 7, Learner: learner.Learner{Policy: explore.IDS{}}}.Arms(10))
//
// Train.Standardize is set, and a NoiseVariance of 0 is 0.5: half of the responses' variance. With noise as large as
// the differences between arms, the regret is then that of exact Thompson sampling, which is told both
// (TestArmsAreExact).
func (c Config) Arms(k int) Config {
	c.fault = faults.Prefix("Arms: ", faults.AtLeast("k", k, 1))
	table, layout := base.Tabular{Arms: k}, hyper.PerParameter(k, 30)
	return c.believes(0, table, hyper.Linear{Layout: layout, P: index.PerArm{Arms: k, M: 30}}, layout)
}

// Linear is a Config with the belief of the agent that [Linear] returns: a dense linear hypermodel with 30 dimensions
// of the index, trained exactly. Options are as with [Config.Arms].
func (c Config) Linear(features int) Config {
	c.fault = faults.Prefix("Linear: ", faults.AtLeast("features", features, 1))
	line := base.Linear{Features: features, Intercept: true}
	layout := hyper.Dense(hyper.NumTheta(line), 30)
	return c.believes(features, line, hyper.Linear{Layout: layout, P: index.Gaussian{N: 30}}, layout)
}

// Neural is a Config with the belief of the agent that [Neural] returns: an ensemble of 30 networks, each with a prior
// network, trained by Adam. (A dense linear hypermodel has more than twice the regret on the bandit of section 4.2 in
// 300 periods.) Options are as with [Config.Arms].
func (c Config) Neural(features int, hidden ...int) Config {
	c.fault = faults.Prefix("Neural: ", faults.AtLeast("features", features, 1))
	net := base.MLP{Layers: slices.Concat([]int{features}, hidden, []int{1})}
	layout := hyper.Dense(hyper.NumTheta(net), 30)
	return c.believes(features, net, hyper.Ensemble{Particles: 30, Params: hyper.NumTheta(net)}, layout)
}

// Contextual is a Config with the belief of the agent that [Contextual] returns: for each arm a Bayesian linear
// regression on 200 random cosines of the context, and beside it one on the context alone, each with the probability
// that the rewards of all arms give it. See hyper.BayesianLinear, which is exact. Rewards and contexts are standardised
// online, and the policy is UCB by the 0.84 quantile of 100 functions: a standard deviation above the mean. Options are
// as with [Config.Arms], and Forget, Waves and CosinesAlone, as in
//
//	agent.New(agent.Config{Forget: 0.999, Waves: agent.None, Floor: 0.05}.Contextual(3, 8))
//
// The settings were chosen on data sets other than those of notebook 10: see notebooks/results/contextual.
func (c Config) Contextual(k, context int) Config {
	c.fault = faults.Prefix("Contextual: ", errors.Join(faults.AtLeast("k", k, 1), faults.AtLeast("context", context, 1)))
	c.Encoding = &Encoding{Context: context, Arms: k, Code: AsNumber, Standardize: true}
	c.Features = c.Encoding.Width()
	b := hyper.BayesianLinear{Features: c.Features, Blocks: k, Numbered: true, Waves: cmp.Or(c.Waves, 200), Length: 1}
	b.Waves = max(b.Waves, 0)
	b.Line = b.Waves > 0 && !c.CosinesAlone
	c.CosinesAlone = false // the Belief says so, as those in files do
	c.Learner.Belief = b
	c.Learner.Train.Standardize = true
	c.Learner.Train.Discount = cmp.Or(c.Learner.Train.Discount, c.Forget)
	c.Learner.NoiseVariance = cmp.Or(c.Learner.NoiseVariance, 0.1)
	if c.Learner.Policy == nil {
		c.Learner.Policy = explore.UCB{Quantile: 0.84}
	}
	return c
}

// ContextualNeural is a Config with the belief of the agent that [ContextualNeural] returns: that of [Config.Neural],
// of an arm's place among k numbers, of which one is 1, and the context, which is standardised online. Options are as
// with [Config.Arms].
func (c Config) ContextualNeural(k, context int, hidden ...int) Config {
	fault := faults.Prefix("ContextualNeural: ", errors.Join(faults.AtLeast("k", k, 1),
		faults.AtLeast("context", context, 1)))
	c.Encoding = &Encoding{Context: context, Arms: k, Code: AsOneHot, Standardize: true}
	c = c.Neural(max(c.Encoding.Width(), 1), hidden...)
	c.fault = cmp.Or(fault, c.fault)
	return c
}

// believes is the Config with a belief for responses of any scale: one with an additive prior of the base model itself.
func (c Config) believes(features int, b hyper.BaseModel, h hyper.Hypermodel, prior hyper.Layout) Config {
	c.Features = features
	c.Learner.Belief = hyper.Model{Base: b, Hyper: h, Prior: &hyper.Prior{Base: b, Layout: prior}}
	c.Learner.Train.Standardize = true
	c.Learner.NoiseVariance = cmp.Or(c.Learner.NoiseVariance, 0.5)
	return c
}
