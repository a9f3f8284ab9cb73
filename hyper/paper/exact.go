package paper

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Exact is exact Thompson sampling, with the posterior of independent Gaussian arms.
type Exact struct{}

// Validate always returns nil.
func (*Exact) Validate(*bandit.Problem) error { return nil }

// Agent returns the agent for a problem.
func (*Exact) Agent(p bandit.Problem) lab.Agent {
	return exactAgent{independentGaussian{p.Actions}, p.PriorVariance, p.NoiseVariance}
}

// Independent is Thompson sampling that treats the actions of the neural bandit as independent arms. Their prior is the
// Gaussian distribution with the mean and the variance of the generator's rewards.
type Independent struct{}

// Validate always returns nil.
func (*Independent) Validate(*bandit.Problem) error { return nil }

// Agent returns the agent for a problem.
func (*Independent) Agent(p bandit.Problem) lab.Agent {
	// Without noise, a single observation of an arm would make the posterior a point; tiny noise has the same effect.
	return exactAgent{independentGaussian{p.Actions}, p.RewardVariance, max(p.NoiseVariance, 1e-6)}
}

// exactAgent is Thompson sampling with the exact posterior of independent arms.
type exactAgent struct {
	arms  independentGaussian
	prior float64 // variance of each arm's mean reward
	noise float64 // variance of a reward given the arm's mean
}

func (a exactAgent) Numbers() map[string]float64 {
	return map[string]float64{"PriorVariance": a.prior, "NoiseVariance": a.noise}
}

func (a exactAgent) Init(s rng.Stream, _ hyper.Numbers) bandit.State {
	return a.arms.init(s.Graph(), s.Runs())
}

func (a exactAgent) Act(state bandit.State, n hyper.Numbers, s rng.Stream, _, _, there *Node) (action, values *Node) {
	prior, noise := n.Of(s, "PriorVariance", a.prior), n.Of(s, "NoiseVariance", a.noise)
	mean, sd := a.arms.posterior(state, prior, noise)
	values = InsertAxes(Add(mean, Mul(sd, s.Normal(a.arms.arms))), 1)
	_, action = explore.Decide(explore.Thompson{}, values, explore.Moment{Stream: s, Available: there})
	return action, values
}

// Predict draws functions from the posterior.
func (a exactAgent) Predict(state bandit.State, n hyper.Numbers, s rng.Stream, functions int, _ *Node) *Node {
	mean, sd := a.arms.posterior(state, n.Of(s, "PriorVariance", a.prior),
		n.Of(s, "NoiseVariance", a.noise))
	return Add(InsertAxes(mean, 1), Mul(InsertAxes(sd, 1), s.Normal(functions, a.arms.arms)))
}

func (a exactAgent) Learn(state bandit.State, _ hyper.Numbers, _ rng.Stream, d lab.Datum) bandit.State {
	return a.arms.observe(state, d.Action, d.Reward)
}

// Computation returns 0, because the agent makes no SGD steps.
func (a exactAgent) Computation() float64 { return 0 }
