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

// Arms returns an agent that chooses among k arms. Rewards may have any scale and offset: the agent standardises them
// as they arrive, see train.Config.Standardize. Act(ctx, nil) chooses among all arms. Act(ctx, [][]float32{{2}, {0}})
// chooses between arms 2 and 0, and Decision.Action is then an index into this list. Options are the fields of a
// Config: see [Config.Arms].
func Arms(k int) (*Agent, error) { return New(Config{}.Arms(k)) }

// Linear returns an agent for rewards that are a linear function of the given number of features of an action, with an
// intercept, plus noise. Rewards may have any scale and offset, as for [Arms]. Features should have a mean of about 0
// and a variance of about 1; for other features see [Config.Linear], also for options.
func Linear(features int) (*Agent, error) { return New(Config{}.Linear(features)) }

// Neural returns an agent for rewards that are any function of the given number of features of an action, plus noise.
// Networks with hidden layers of the given widths learn the function. Rewards may have any scale and offset, as for
// [Arms]. Features should have a mean of about 0 and a variance of about 1; for other features see [Config.Linear].
// Options are the fields of a Config: see [Config.Neural].
func Neural(features int, hidden ...int) (*Agent, error) {
	return New(Config{}.Neural(features, hidden...))
}

// Contextual returns an agent that chooses among k arms in a context of the given length. [Agent.Decide] takes the
// context. Rewards and contexts may have any scale and offset, as for [Arms]. Options are the fields of a Config: see
// [Config.Contextual].
func Contextual(k, context int) (*Agent, error) { return New(Config{}.Contextual(k, context)) }

// ContextualNeural returns an agent that chooses among k arms in a context, as [Contextual] does. It uses the networks
// of [Neural], whose input is the arm and the context. Options are the fields of a Config: see
// [Config.ContextualNeural].
func ContextualNeural(k, context int, hidden ...int) (*Agent, error) {
	return New(Config{}.ContextualNeural(k, context, hidden...))
}

// Arms returns a Config with the belief of the agent that the function [Arms] returns: the diagonal linear hypermodel
// of section 4.1, with 30 dimensions of the index for each arm, trained exactly. The other fields of the Config are the
// options, as in
//
//	agent.New(agent.Config{Seed: 7, Learner: learner.Learner{Policy: explore.IDS{}}}.Arms(10))
//
// Arms sets Train.Standardize, and sets a NoiseVariance of 0 to 0.5: half of the variance of the responses. If the
// noise is as large as the differences between arms, the regret is the regret of exact Thompson sampling that knows
// both (TestArmsAreExact).
func (c Config) Arms(k int) Config {
	c.fault = faults.Prefix("Arms: ", faults.AtLeast("k", k, 1))
	table, layout := base.Tabular{Arms: k}, hyper.PerParameter(k, 30)
	return c.believes(0, table, hyper.Linear{Layout: layout, P: index.PerArm{Arms: k, M: 30}}, layout)
}

// Linear returns a Config with the belief of the agent that the function [Linear] returns: a dense linear hypermodel
// with 30 dimensions of the index, trained exactly. For the options see [Config.Arms]. The agent standardises features
// of any scale if the Config has
//
//	Encoding: &agent.Encoding{Action: features, Standardize: true}
//
// [Agent.Add] and [Agent.Sample] then take what [Agent.Inputs] returns.
func (c Config) Linear(features int) Config {
	c.fault = faults.Prefix("Linear: ", faults.AtLeast("features", features, 1))
	line := base.Linear{Features: features, Intercept: true}
	layout := hyper.Dense(hyper.NumTheta(line), 30)
	return c.believes(features, line, hyper.Linear{Layout: layout, P: index.Gaussian{N: 30}}, layout)
}

// Neural returns a Config with the belief of the agent that the function [Neural] returns: an ensemble of 30 networks,
// each with a prior network, trained by Adam. (On the bandit of section 4.2, a dense linear hypermodel has more than
// twice the regret in 300 periods.) For the options see [Config.Arms].
func (c Config) Neural(features int, hidden ...int) Config {
	c.fault = faults.Prefix("Neural: ", faults.AtLeast("features", features, 1))
	net := base.MLP{Layers: slices.Concat([]int{features}, hidden, []int{1})}
	layout := hyper.Dense(hyper.NumTheta(net), 30)
	return c.believes(features, net, hyper.Ensemble{Particles: 30, Params: hyper.NumTheta(net)}, layout)
}

// Contextual returns a Config with the belief of the agent that the function [Contextual] returns. For each arm the
// belief has two Bayesian linear regressions: one on 200 random cosines of the context, and one on the context alone.
// Each has the probability that the rewards of all arms give it. The belief is exact; see hyper.BayesianLinear. Rewards
// and contexts are standardised online. The policy is UCB with the 0.84 quantile of 100 functions: one standard
// deviation above the mean. The options are the same as for [Config.Arms], and Forget and Waves, as in
//
//	agent.New(agent.Config{Forget: 0.999, Waves: agent.None, Floor: 0.05}.Contextual(3, 8))
//
// The settings were chosen on data sets other than the data sets of notebook 14: see notebooks/results/contextual. Only
// the distance at which an outlier is cut was chosen on two of them.
func (c Config) Contextual(k, context int) Config {
	c.fault = errors.Join(
		faults.Prefix("Contextual: ", errors.Join(faults.AtLeast("k", k, 1), faults.AtLeast("context", context, 1))),
		c.checkForget(), c.checkWaves())
	c.Encoding = &Encoding{Context: context, Arms: k, Code: AsNumber, Standardize: true}
	c.Features = c.Encoding.Width()
	b := hyper.BayesianLinear{Features: c.Features, Blocks: k, Numbered: true, Waves: cmp.Or(c.Waves, 200), Length: 1}
	b.Waves = max(b.Waves, 0)
	b.Line = b.Waves > 0
	c.Learner.Belief = b
	c.Learner.Train.Standardize = true
	c.Learner.Train.Discount = cmp.Or(c.Learner.Train.Discount, c.Forget)
	c.Learner.NoiseVariance = cmp.Or(c.Learner.NoiseVariance, 0.1)
	if c.Learner.Policy == nil {
		c.Learner.Policy = explore.UCB{Quantile: 0.84}
	}
	return c
}

// ContextualNeural returns a Config with the belief of the agent that the function [ContextualNeural] returns: the
// belief of [Config.Neural]. Its input is k numbers, 1 for the arm and 0 for the others, followed by the context. The
// context is standardised online. For the options see [Config.Arms].
func (c Config) ContextualNeural(k, context int, hidden ...int) Config {
	fault := faults.Prefix("ContextualNeural: ", errors.Join(faults.AtLeast("k", k, 1),
		faults.AtLeast("context", context, 1)))
	c.Encoding = &Encoding{Context: context, Arms: k, Code: AsOneHot, Standardize: true}
	c = c.Neural(max(c.Encoding.Width(), 1), hidden...)
	c.fault = cmp.Or(fault, c.fault)
	return c
}

// believes returns the Config with a belief for responses of any scale: a Model with an additive prior, whose base
// model is the Model's base model.
func (c Config) believes(features int, b hyper.BaseModel, h hyper.Hypermodel, prior hyper.Layout) Config {
	c.Features = features
	c.Learner.Belief = hyper.Model{Base: b, Hyper: h, Prior: &hyper.Prior{Base: b, Layout: prior}}
	c.Learner.Train.Standardize = true
	c.Learner.NoiseVariance = cmp.Or(c.Learner.NoiseVariance, 0.5)
	return c
}
