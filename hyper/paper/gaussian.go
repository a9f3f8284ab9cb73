// Package paper holds the experiments of the paper, one file for each: settings with defaults, quick and full sizes, and
// the test of the paper's claim.
package paper

import (
	"errors"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Gaussian is section 4.1: Thompson sampling with an ensemble and with a diagonal linear hypermodel, and exact Thompson
// sampling as the yardstick, on a Gaussian bandit with independent arms.
var Gaussian = lab.Experiment{
	Name:    "gaussian",
	Title:   "Gaussian bandit with independent arms",
	Section: "4.1, figure 3",
	Agents: map[string]func() lab.Setting{
		"linear":   func() lab.Setting { return newGaussianLinear() },
		"ensemble": func() lab.Setting { return newGaussianEnsemble() },
		"exact":    func() lab.Setting { return &GaussianExact{GaussianBandit: newGaussianBandit()} },

		"hypernetwork": func() lab.Setting { return newGaussianNetwork() },
	},
	Order: []string{"exact", "linear", "ensemble", "hypernetwork"},
	Quick: lab.Size{Periods: 1000, Runs: 10},
	Full:  lab.Size{Periods: 10_000, Runs: 100},

	Failure: 0.15, // a tenth of the standard deviation of the mean rewards
	Claims: []lab.Claim{
		linearNearExact, largerEnsembles,
		reachesTarget("linear", 10, "index-dim=10"), reachesTarget("linear", 30, "index-dim=10"),
		reachesTarget("ensemble", 10, "particles=100"), reachesTarget("ensemble", 30, "particles=300"),
	},
}

// GaussianBandit is the part of a setting that describes the environment.
type GaussianBandit struct {
	Arms          int     `key:"arms" help:"number of arms K"`
	PriorVariance float64 `key:"prior-variance" run:"true" help:"sigma_p^2: variance of the arms' mean rewards, and of the agent's prior"`
	NoiseVariance float64 `key:"noise-variance" run:"true" help:"sigma_w^2: variance of the rewards' noise, as the agent knows it"`
}

func newGaussianBandit() GaussianBandit {
	return GaussianBandit{Arms: 10, PriorVariance: 2.25, NoiseVariance: 1}
}

// Validate reports what is wrong.
func (b GaussianBandit) Validate() error {
	return errors.Join(atLeast("arms", b.Arms, 1), positive("prior-variance", b.PriorVariance), positive("noise-variance", b.NoiseVariance))
}

func (b GaussianBandit) environment() lab.Environment {
	return gaussianEnvironment{bandit.Gaussian{Arms: b.Arms}}
}

// GaussianLinear is the agent with the diagonal linear hypermodel: mu_x + (sigma_p b_x + c_x)^T z_x.
type GaussianLinear struct {
	GaussianBandit
	IndexDim int `key:"index-dim" help:"m: index dimension of each arm"`
	SGD
	Exploration
}

func newGaussianLinear() *GaussianLinear {
	c := &GaussianLinear{GaussianBandit: newGaussianBandit(), IndexDim: 10, SGD: newSGD(), Exploration: thompson()}
	c.StepSize, c.Batch, c.Indices = 1, 1024, 64
	return c
}

// Model returns the hypermodel of section 4.1.
func (c *GaussianLinear) Model() hyper.Model {
	layout := hyper.PerParameter(c.Arms, c.IndexDim)
	arms := base.Tabular{Arms: c.Arms}
	return hyper.Model{
		Base:  arms,
		Hyper: hyper.Linear{Layout: layout, P: index.PerArm{Arms: c.Arms, M: c.IndexDim}, InitC: hyper.InitNormal(0.05), InitM: hyper.InitNormal(0.05)},
		Prior: &hyper.Prior{Base: arms, Layout: layout, Rows: hyper.RowsSphere},
	}
}

// Validate reports everything that is wrong.
func (c *GaussianLinear) Validate() error {
	numbers := errors.Join(c.GaussianBandit.Validate(), atLeast("index-dim", c.IndexDim, 1), c.SGD.Validate(), c.Exploration.Validate())
	return c.SGD.validateFor(numbers, c.Model)
}

// Build returns environment and agent.
func (c *GaussianLinear) Build(periods int) (lab.Environment, lab.Agent) {
	return c.environment(), newAgent(c.Model(), c.config(periods), "prior-variance", c.Exploration)
}

// GaussianEnsemble is the agent with the ensemble hypermodel.
type GaussianEnsemble struct {
	GaussianBandit
	Particles int `key:"particles" help:"number of particles in the ensemble"`
	SGD
	Exploration
}

func newGaussianEnsemble() *GaussianEnsemble {
	c := &GaussianEnsemble{GaussianBandit: newGaussianBandit(), Particles: 100, SGD: newSGD(), Exploration: thompson()}
	c.StepSize, c.Batch, c.Indices, c.Integrate = 0.5, 1024, 64, string(train.Analytic)
	return c
}

// Model returns the ensemble of section 4.1.
func (c *GaussianEnsemble) Model() hyper.Model {
	arms := base.Tabular{Arms: c.Arms}
	return hyper.Model{
		Base:  arms,
		Hyper: hyper.Ensemble{Particles: c.Particles, Params: c.Arms, InitNu: hyper.InitNormal(0.05)},
		Prior: &hyper.Prior{Base: arms, Layout: hyper.Dense(c.Arms, c.Particles), Rows: hyper.RowsGaussian},
	}
}

// Validate reports everything that is wrong.
func (c *GaussianEnsemble) Validate() error {
	numbers := errors.Join(c.GaussianBandit.Validate(), atLeast("particles", c.Particles, 1), c.SGD.Validate(), c.Exploration.Validate())
	return c.SGD.validateFor(numbers, c.Model)
}

// Build returns environment and agent.
func (c *GaussianEnsemble) Build(periods int) (lab.Environment, lab.Agent) {
	return c.environment(), newAgent(c.Model(), c.config(periods), "prior-variance", c.Exploration)
}

// GaussianExact is exact Thompson sampling with the independent-Gaussian posterior.
type GaussianExact struct{ GaussianBandit }

// Build returns environment and agent.
func (c *GaussianExact) Build(int) (lab.Environment, lab.Agent) {
	return c.environment(), exactAgent{train.IndependentGaussian{Arms: c.Arms}, func(in lab.Inputs) (prior, noise *Node) {
		return in["prior-variance"], in["noise-variance"]
	}}
}

// gaussianEnvironment is bandit.Gaussian as the lab runs it.
type gaussianEnvironment struct{ bandit.Gaussian }

func (e gaussianEnvironment) Init(s rng.Stream, in lab.Inputs) lab.State {
	return lab.State{"theta": e.Gaussian.Init(s, in["prior-variance"])}
}
func (e gaussianEnvironment) Actions(lab.State) *Node { return nil }
func (e gaussianEnvironment) Step(state lab.State, in lab.Inputs, s rng.Stream, action *Node) (reward, regret *Node) {
	return e.Gaussian.Step(s, state["theta"], action, in["noise-variance"])
}

// exactAgent is Thompson sampling with the exact posterior of independent arms.
type exactAgent struct {
	posterior train.IndependentGaussian
	variances func(in lab.Inputs) (prior, noise *Node) // of each arm's mean reward, and of a reward given it; [runs]
}

func (a exactAgent) Init(s rng.Stream, _ lab.Inputs) lab.State {
	return lab.State(a.posterior.Init(s.Graph(), s.Runs()))
}

func (a exactAgent) Act(state lab.State, in lab.Inputs, s rng.Stream, _, _ *Node) (action, values *Node) {
	prior, noise := a.variances(in)
	mean, sd := a.posterior.Posterior(train.State(state), prior, noise)
	values = InsertAxes(Add(mean, Mul(sd, s.Normal(a.posterior.Arms))), 1)
	_, action = explore.Thompson{}.Decide(values, explore.Moment{Stream: s})
	return action, values
}

func (a exactAgent) Learn(state lab.State, _ lab.Inputs, _ rng.Stream, _, action, reward, _ *Node) lab.State {
	return lab.State(a.posterior.Observe(train.State(state), action, reward))
}

// Computation is zero: there is no SGD.
func (a exactAgent) Computation() float64 { return 0 }
