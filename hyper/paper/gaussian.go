// Package paper holds the experiments of the paper, one file for each: settings with defaults, quick and full sizes, and
// the test of the paper's claim.
package paper

import (
	"errors"
	"fmt"
	"math"

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
	},
	Order: []string{"exact", "linear", "ensemble"},
	Quick: lab.Size{Periods: 1000, Runs: 10},
	Full:  lab.Size{Periods: 10_000, Runs: 100},
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

// SGD is the part of a setting that describes training.
type SGD struct {
	StepSize     float64 `key:"step-size" run:"true" help:"constant step size: alpha for a linear hypermodel; for an ensemble the step of a particle each time it is visited, alpha over the particles visited by an SGD step"`
	Steps        int     `key:"sgd-steps" help:"SGD steps per period"`
	Batch        int     `key:"batch" help:"data points per SGD step, drawn with replacement"`
	Indices      int     `key:"index-samples" help:"indices z sampled per SGD step"`
	Integrate    string  `key:"integrate" help:"sampled (the paper's), analytic (expectation over z in closed form; all particles) or full-data (analytic, on all data by sufficient statistics)"`
	Optimizer    string  `key:"optimizer" help:"sgd (the paper's), adam, adamax or rmsprop (GoMLX's)"`
	Perturbation float64 `key:"perturbation" run:"true" help:"scale of the data perturbations, as a multiple of sigma_w"`
}

// Validate reports what is wrong; the trainer's Config does the rest.
func (c SGD) Validate() error {
	return errors.Join(positive("step-size", c.StepSize), notNegative("perturbation", c.Perturbation))
}

// validateFor returns the errors of a setting: of its numbers and names, and of the model they make.
func (c SGD) validateFor(numbers error, model func() hyper.Model) error {
	if numbers != nil { // no model can be made of them
		return errors.Join(numbers, c.config(1).ValidateNames())
	}
	m := model()
	return errors.Join(m.Validate(), c.config(1).Validate(m))
}

func (c SGD) config(periods int) train.Config {
	return train.Config{Steps: c.Steps, Batch: c.Batch, Indices: c.Indices, Integrate: train.Integration(c.Integrate), Optimizer: c.Optimizer, Capacity: periods}
}

// GaussianLinear is the agent with the diagonal linear hypermodel: mu_x + (sigma_p b_x + c_x)^T z_x.
type GaussianLinear struct {
	GaussianBandit
	IndexDim int `key:"index-dim" help:"m: index dimension of each arm"`
	SGD
}

func newGaussianLinear() *GaussianLinear {
	return &GaussianLinear{
		GaussianBandit: newGaussianBandit(),
		IndexDim:       10,
		SGD:            SGD{StepSize: 1, Steps: 1, Batch: 1024, Indices: 64, Integrate: string(train.Sampled), Optimizer: "sgd", Perturbation: 1},
	}
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
	numbers := errors.Join(c.GaussianBandit.Validate(), atLeast("index-dim", c.IndexDim, 1), c.SGD.Validate())
	return c.SGD.validateFor(numbers, c.Model)
}

// Build returns environment and agent.
func (c *GaussianLinear) Build(periods int) (lab.Environment, lab.Agent) {
	return c.environment(), newAgent(c.Model(), c.config(periods))
}

// GaussianEnsemble is the agent with the ensemble hypermodel.
type GaussianEnsemble struct {
	GaussianBandit
	Particles int `key:"particles" help:"number of particles in the ensemble"`
	SGD
}

func newGaussianEnsemble() *GaussianEnsemble {
	return &GaussianEnsemble{
		GaussianBandit: newGaussianBandit(),
		Particles:      100,
		SGD:            SGD{StepSize: 0.5, Steps: 1, Batch: 1024, Indices: 64, Integrate: string(train.Analytic), Optimizer: "sgd", Perturbation: 1},
	}
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
	numbers := errors.Join(c.GaussianBandit.Validate(), atLeast("particles", c.Particles, 1), c.SGD.Validate())
	return c.SGD.validateFor(numbers, c.Model)
}

// Build returns environment and agent.
func (c *GaussianEnsemble) Build(periods int) (lab.Environment, lab.Agent) {
	return c.environment(), newAgent(c.Model(), c.config(periods))
}

// GaussianExact is exact Thompson sampling with the independent-Gaussian posterior.
type GaussianExact struct{ GaussianBandit }

// Build returns environment and agent.
func (c *GaussianExact) Build(int) (lab.Environment, lab.Agent) {
	return c.environment(), exactAgent{train.IndependentGaussian{Arms: c.Arms}}
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

// hypermodelAgent is a hypermodel trained by perturbed SGD, exploring by a policy.
type hypermodelAgent struct {
	trainer train.Trainer
	policy  explore.Policy
	visited int // what the step-size key is multiplied by to give the paper's alpha, see SGD
}

func newAgent(m hyper.Model, c train.Config) hypermodelAgent {
	a := hypermodelAgent{trainer: train.Trainer{Model: m, Config: c}, policy: explore.Thompson{}, visited: 1}
	if p, finite := m.Index().(index.Enumerable); finite {
		a.visited = c.Indices
		if c.Integrate != train.Sampled {
			a.visited = p.Dim()
		}
	}
	return a
}

func (a hypermodelAgent) Init(s rng.Stream, in lab.Inputs) lab.State {
	return lab.State(a.trainer.Init(s, Sqrt(in["prior-variance"])))
}

func (a hypermodelAgent) Act(state lab.State, _ lab.Inputs, s rng.Stream, actions *Node) (action, values *Node) {
	values = a.trainer.Model.Sample(a.trainer.Params(train.State(state)), s, a.policy.Samples(), actions)
	_, action = a.policy.Decide(values)
	return action, values
}

func (a hypermodelAgent) Learn(state lab.State, in lab.Inputs, s rng.Stream, period, action, reward, actions *Node) lab.State {
	rates := train.Rates{
		Step: MulScalar(in["step-size"], float64(a.visited)), NoiseVar: in["noise-variance"], PriorVar: in["prior-variance"],
		Perturbation: Mul(in["perturbation"], Sqrt(in["noise-variance"])),
	}
	next := a.trainer.Observe(train.State(state), s, period, action, reward, actions)
	return lab.State(a.trainer.Train(next, s, AddScalar(period, int32(1)), actions, rates))
}

// Computation is n_sgd n_z n_data n_params; the closed forms count each particle, or one index, and full-data statistics
// one datum for each parameter row.
func (a hypermodelAgent) Computation() float64 {
	c, indices, data := a.trainer.Config, float64(a.trainer.Indices), float64(a.trainer.Batch)
	if c.Integrate != train.Sampled {
		indices = 1
		if p, ok := a.trainer.Model.Index().(index.Enumerable); ok {
			indices = float64(p.Dim())
		}
	}
	if c.Integrate == train.FullData {
		data = 1
	}
	return float64(c.Steps) * indices * data * float64(a.trainer.Model.Hyper.NumInvolved())
}

// exactAgent is Thompson sampling with the exact posterior of independent arms.
type exactAgent struct{ posterior train.IndependentGaussian }

func (a exactAgent) Init(s rng.Stream, _ lab.Inputs) lab.State {
	return lab.State(a.posterior.Init(s.Graph(), s.Runs()))
}

func (a exactAgent) Act(state lab.State, in lab.Inputs, s rng.Stream, _ *Node) (action, values *Node) {
	mean, sd := a.posterior.Posterior(train.State(state), in["prior-variance"], in["noise-variance"])
	values = InsertAxes(Add(mean, Mul(sd, s.Normal(a.posterior.Arms))), 1)
	_, action = explore.Thompson{}.Decide(values)
	return action, values
}

func (a exactAgent) Learn(state lab.State, _ lab.Inputs, _ rng.Stream, _, action, reward, _ *Node) lab.State {
	return lab.State(a.posterior.Observe(train.State(state), action, reward))
}

// Computation is zero: there is no SGD.
func (a exactAgent) Computation() float64 { return 0 }

func positive(name string, x float64) error {
	if !(x > 0) || math.IsInf(x, 0) {
		return fmt.Errorf("%s must be positive, got %v", name, x)
	}
	return nil
}

func notNegative(name string, x float64) error {
	if !(x >= 0) || math.IsInf(x, 0) {
		return fmt.Errorf("%s must not be negative, got %v", name, x)
	}
	return nil
}

func atLeast(name string, n, least int) error {
	if n < least {
		return fmt.Errorf("%s must be at least %d, got %d", name, least, n)
	}
	return nil
}
