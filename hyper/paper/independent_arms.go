package paper

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
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
	return exactAgent{arms: p.Actions, priorVariance: p.PriorVariance, noiseVariance: p.NoiseVariance}
}

// Independent is Thompson sampling that treats the actions of the neural bandit as independent arms. Their prior is the
// Gaussian distribution with the mean and the variance of the mean rewards that the neural bandit generates.
type Independent struct{}

// Validate always returns nil.
func (*Independent) Validate(*bandit.Problem) error { return nil }

// Agent returns the agent for a problem.
func (*Independent) Agent(p bandit.Problem) lab.Agent {
	// Without noise, a single observation of an arm would make the posterior a point; tiny noise has the same effect.
	return exactAgent{arms: p.Actions, priorVariance: p.RewardVariance,
		noiseVariance: max(p.NoiseVariance, 1e-6)}
}

// exactAgent is Thompson sampling with the exact posterior of K independent arms under the prior N(0, sigma_p^2) and
// Gaussian noise: arm k with n_k rewards of sum s_k has precision 1/sigma_p^2 + n_k/sigma_w^2 and mean
// (s_k/sigma_w^2)/precision.
type exactAgent struct {
	arms          int     // K
	priorVariance float64 // of each arm's mean reward
	noiseVariance float64 // of a reward given the arm's mean
}

func (a exactAgent) Numbers() map[string]float64 {
	return map[string]float64{"PriorVariance": a.priorVariance, "NoiseVariance": a.noiseVariance}
}

// Init returns the state before any data: the counts and the sums of rewards, [runs, K].
func (a exactAgent) Init(s rng.Stream, _ hyper.Numbers) bandit.State {
	zero := Zeros(s.Graph(), shapes.Make(dtypes.Float32, s.Runs(), a.arms))
	return bandit.State{"count": zero, "sum": zero}
}

func (a exactAgent) Act(state bandit.State, n hyper.Numbers, s rng.Stream, _, _, available *Node) (action,
	values *Node) {
	mean, sd := a.posterior(state, n, s)
	values = InsertAxes(Add(mean, Mul(sd, s.Normal(a.arms))), 1)
	_, action = explore.Decide(explore.Thompson{}, values, explore.Moment{Stream: s, Available: available})
	return action, values
}

// Predict draws functions from the posterior.
func (a exactAgent) Predict(state bandit.State, n hyper.Numbers, s rng.Stream, functions int, _ *Node) *Node {
	mean, sd := a.posterior(state, n, s)
	return Add(InsertAxes(mean, 1), Mul(InsertAxes(sd, 1), s.Normal(functions, a.arms)))
}

// posterior returns the mean and standard deviation of each arm, [runs, K].
func (a exactAgent) posterior(state bandit.State, n hyper.Numbers, s rng.Stream) (mean, sd *Node) {
	prior := n.Of(s, "PriorVariance", a.priorVariance)
	noise := InsertAxes(n.Of(s, "NoiseVariance", a.noiseVariance), -1)
	precision := Add(InsertAxes(Reciprocal(prior), -1), Div(state["count"], noise))
	return Div(Div(state["sum"], noise), precision), Rsqrt(precision)
}

func (a exactAgent) Learn(state bandit.State, _ hyper.Numbers, _ rng.Stream, d lab.Datum) bandit.State {
	at := OneHot(d.Action, a.arms, dtypes.Float32)
	return bandit.State{"count": Add(state["count"], at), "sum": Add(state["sum"], Mul(at, InsertAxes(d.Reward, -1)))}
}

// Computation returns 0, because the agent makes no SGD steps.
func (a exactAgent) Computation() float64 { return 0 }
