package paper

import (
	"errors"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Net is the part of a setting that describes the network that is trained.
type Net struct {
	Hidden string `key:"hidden" help:"hidden widths of the trained network, as 10x10"`
}

// Validate reports what is wrong.
func (n Net) Validate() error {
	_, err := widths("hidden", n.Hidden)
	return err
}

// NeuralLearner is the part of a setting that agents trained by perturbed SGD share.
type NeuralLearner struct {
	NeuralBandit
	Net
	Belief
	SGD
	Exploration
}

func newNeuralLearner(hidden string) NeuralLearner {
	return NeuralLearner{newNeuralBandit(), Net{hidden}, newBelief(), neuralSGD(), thompson()}
}

// Validate reports what is wrong; the trainer's Config does the rest.
func (c NeuralLearner) Validate() error {
	return errors.Join(c.NeuralBandit.Validate(), c.Net.Validate(), c.Belief.Validate(), c.SGD.Validate(), c.Exploration.Validate())
}

func (c NeuralLearner) build(m hyper.Model, periods int) (lab.Environment, lab.Agent) {
	return c.environment(), newAgent(m, c.config(periods), "prior-multiplier", c.Exploration)
}

// NeuralLinear is the agent with the linear hypermodel.
type NeuralLinear struct {
	NeuralLearner
	IndexDim   int     `key:"index-dim" help:"index dimension of each layer of the prior network; the index has as many such parts as it has layers"`
	InitialMap float64 `key:"initial-map" help:"scale of the initial C, as a multiple of Glorot uniform. To scale the index by s in the trainable map is to multiply initial-map by s and map-step by s^2 (sgd) or s (adam)"`
}

func newNeuralLinear() *NeuralLinear {
	c := &NeuralLinear{NeuralLearner: newNeuralLearner("10x10"), IndexDim: 10, InitialMap: 0.3}
	c.StepSize, c.IndexSet, c.Indices = 0.004, string(train.Frame), 60
	return c
}

// neuralSGD is common to the agents: without perturbations, as in section 4.2. The paper does not print its settings; the numbers of each
// agent are those that searches of equal budget found (notebooks/results/tuning). Adam was the better optimizer for every agent, and frames
// of indices with it for the linear hypermodel.
func neuralSGD() SGD {
	c := newSGD()
	c.Steps, c.Batch, c.Indices, c.Optimizer, c.Perturbation = 4, 64, 16, "adam", 0
	return c
}

// Model returns the hypermodel of section 4.2: a dense trainable map, and a prior with a block for each layer.
func (c *NeuralLinear) Model() hyper.Model {
	net, generator := c.network(c.Hidden), c.bandit().Generator()
	prior := hyper.PerGroup(generator, c.IndexDim)
	z := index.Gaussian{N: prior.IndexDim()}
	return hyper.Model{
		Base: net,
		Hyper: hyper.Linear{
			Layout: hyper.Dense(hyper.NumTheta(net), z.N), P: z,
			InitC: hyper.InitScaled(c.InitialMap, hyper.InitGlorotUniform), InitM: hyper.InitZeros,
		},
		Prior: c.prior(prior, hyper.RowsSphere),
	}
}

// Validate reports everything that is wrong.
func (c *NeuralLinear) Validate() error {
	numbers := errors.Join(c.NeuralLearner.Validate(), atLeast("index-dim", c.IndexDim, 1), notNegative("initial-map", c.InitialMap))
	return c.validateFor(numbers, c.Model)
}

// Build returns environment and agent.
func (c *NeuralLinear) Build(periods int) (lab.Environment, lab.Agent) {
	return c.build(c.Model(), periods)
}

// NeuralEnsemble is the agent with the ensemble hypermodel.
type NeuralEnsemble struct {
	NeuralLearner
	Particles     int    `key:"particles" help:"number of particles in the ensemble"`
	AdditivePrior string `key:"additive-prior" help:"yes, or no for the ensembles of appendix B"`
}

func newNeuralEnsemble() *NeuralEnsemble {
	c := &NeuralEnsemble{NeuralLearner: newNeuralLearner("10x10"), Particles: 10, AdditivePrior: "yes"}
	c.StepSize, c.Integrate = 0.02, string(train.Analytic)
	return c
}

// Model returns the ensemble of section 4.2, or of appendix B.
func (c *NeuralEnsemble) Model() hyper.Model {
	net := c.network(c.Hidden)
	m := hyper.Model{
		Base:  net,
		Hyper: hyper.Ensemble{Particles: c.Particles, Params: hyper.NumTheta(net), InitNu: hyper.InitTruncatedNormal(0.05)},
	}
	if c.AdditivePrior == "yes" {
		m.Prior = c.prior(hyper.Dense(hyper.NumTheta(c.bandit().Generator()), c.Particles), hyper.RowsGaussian)
	}
	return m
}

// Validate reports everything that is wrong.
func (c *NeuralEnsemble) Validate() error {
	numbers := errors.Join(c.NeuralLearner.Validate(), atLeast("particles", c.Particles, 1), oneOf("additive-prior", c.AdditivePrior, "yes", "no"))
	return c.validateFor(numbers, c.Model)
}

// Build returns environment and agent.
func (c *NeuralEnsemble) Build(periods int) (lab.Environment, lab.Agent) {
	return c.build(c.Model(), periods)
}

// NeuralDiagonal is the agent with the diagonal linear hypermodel of appendix D: one network with parameters DBz + mu + Cz, C
// and B diagonal, so that an index has a number for each parameter and a row of B is 1 or -1.
type NeuralDiagonal struct{ NeuralLearner }

func newNeuralDiagonal() *NeuralDiagonal {
	c := &NeuralDiagonal{newNeuralLearner("60x60")}
	c.StepSize, c.IndexSet, c.Indices, c.PriorMultiplier = 0.008, string(train.Antithetic), 4, 0.1
	return c
}

// Model returns the hypermodel of appendix D. The prior's deviations are the generator's law for the widths of this network, which
// gives its output the same variance.
func (c *NeuralDiagonal) Model() hyper.Model {
	net := c.network(c.Hidden)
	layout := hyper.PerParameter(hyper.NumTheta(net), 1)
	law := bandit.Neural{Actions: c.Actions, Layers: net.Layers}
	return hyper.Model{
		Base:  net,
		Hyper: hyper.Linear{Layout: layout, P: index.Gaussian{N: layout.IndexDim()}, InitC: hyper.InitZeros, InitM: hyper.InitZeros},
		Prior: &hyper.Prior{Layout: layout, Rows: hyper.RowsSphere, StdDev: roots(law.Variances())},
	}
}

// Validate reports everything that is wrong.
func (c *NeuralDiagonal) Validate() error { return c.validateFor(c.NeuralLearner.Validate(), c.Model) }

// Build returns environment and agent.
func (c *NeuralDiagonal) Build(periods int) (lab.Environment, lab.Agent) {
	return c.build(c.Model(), periods)
}

// NeuralBBB is the agent with Bayes by Backprop (appendix D).
type NeuralBBB struct {
	NeuralBandit
	Net
	InitialDeviation float64 `key:"initial-deviation" help:"standard deviation of each parameter before any data"`
	PriorDeviation   float64 `key:"prior-deviation" run:"true" help:"sigma_p: standard deviation of each parameter under the prior"`
	KLStrength       float64 `key:"kl-strength" run:"true" help:"weight of the divergence from the prior; 1 is the variational bound's"`
	NoiseVariance    float64 `key:"noise-variance" run:"true" help:"sigma_w^2 of the loss: the weight of the data"`
	Descent
	Exploration
}

func newNeuralBBB() *NeuralBBB {
	c := &NeuralBBB{
		NeuralBandit: newNeuralBandit(), Net: Net{"60x60"}, InitialDeviation: 0.1, PriorDeviation: 0.2, KLStrength: 0.17, NoiseVariance: 1,
		Descent: neuralSGD().Descent, Exploration: thompson(),
	}
	c.StepSize, c.Indices = 0.002, 4
	return c
}

// Model returns the mean-field hypermodel.
func (c *NeuralBBB) Model() hyper.Model {
	net := c.network(c.Hidden)
	return hyper.Model{
		Base:  net,
		Hyper: hyper.MeanField{Params: hyper.NumTheta(net), InitM: hyper.InitLayers(net), Deviation: c.InitialDeviation},
	}
}

// Validate reports everything that is wrong.
func (c *NeuralBBB) Validate() error {
	numbers := errors.Join(c.NeuralBandit.Validate(), c.Net.Validate(), positive("initial-deviation", c.InitialDeviation),
		positive("prior-deviation", c.PriorDeviation), notNegative("kl-strength", c.KLStrength), positive("noise-variance", c.NoiseVariance), c.Descent.Validate(), c.Exploration.Validate())
	return c.Descent.validateFor(numbers, c.Model)
}

// Build returns environment and agent.
func (c *NeuralBBB) Build(periods int) (lab.Environment, lab.Agent) {
	config := c.config(periods)
	config.Regularize = train.KL
	return c.environment(), newAgent(c.Model(), config, "", c.Exploration)
}

// NeuralDropout is the agent with dropout (appendix E): Thompson sampling where a function is a mask.
type NeuralDropout struct {
	NeuralBandit
	Net
	Keep          float64 `key:"keep" help:"probability of keeping a hidden unit"`
	NoiseVariance float64 `key:"noise-variance" run:"true" help:"sigma_w^2 of the loss: the weight of the data"`
	PriorVariance float64 `key:"prior-variance" run:"true" help:"sigma_p^2 of the loss's regularizer"`
	Descent
	Exploration
}

func newNeuralDropout() *NeuralDropout {
	c := &NeuralDropout{NeuralBandit: newNeuralBandit(), Net: Net{"100x100"}, Keep: 0.5, NoiseVariance: 1, PriorVariance: 2.25, Descent: neuralSGD().Descent, Exploration: thompson()}
	c.StepSize, c.Indices, c.PriorVariance = 0.009, 4, 20
	return c
}

// Model returns dropout as a hypermodel.
func (c *NeuralDropout) Model() hyper.Model {
	net := c.network(c.Hidden)
	return hyper.Model{Base: net, Hyper: hyper.Dropout{Net: net, Keep: c.Keep}}
}

// Validate reports everything that is wrong.
func (c *NeuralDropout) Validate() error {
	numbers := errors.Join(c.NeuralBandit.Validate(), c.Net.Validate(), positive("noise-variance", c.NoiseVariance),
		positive("prior-variance", c.PriorVariance), c.Descent.Validate(), c.Exploration.Validate())
	if !(c.Keep > 0 && c.Keep <= 1) {
		numbers = errors.Join(numbers, fmt.Errorf("keep, the probability of keeping a unit, must be in (0, 1], got %v", c.Keep))
	}
	return c.Descent.validateFor(numbers, c.Model)
}

// Build returns environment and agent.
func (c *NeuralDropout) Build(periods int) (lab.Environment, lab.Agent) {
	return c.environment(), newAgent(c.Model(), c.config(periods), "", c.Exploration)
}

// NeuralGreedy is annealed epsilon-greedy with one network.
type NeuralGreedy struct {
	NeuralBandit
	Net
	NoiseVariance float64 `key:"noise-variance" run:"true" help:"sigma_w^2 of the loss: the weight of the data"`
	PriorVariance float64 `key:"prior-variance" run:"true" help:"sigma_p^2 of the loss's regularizer"`
	Descent
	Exploration
}

func newNeuralGreedy() *NeuralGreedy {
	c := &NeuralGreedy{NeuralBandit: newNeuralBandit(), Net: Net{"10x10"}, NoiseVariance: 1, PriorVariance: 2.25, Descent: neuralSGD().Descent, Exploration: Exploration{Policy: "egreedy", Anneal: 12}}
	c.StepSize, c.Steps, c.Indices, c.Integrate = 0.005, 8, 1, string(train.Analytic)
	return c
}

// Model returns an ensemble of one network.
func (c *NeuralGreedy) Model() hyper.Model {
	net := c.network(c.Hidden)
	return hyper.Model{Base: net, Hyper: hyper.Ensemble{Particles: 1, Params: hyper.NumTheta(net), InitNu: hyper.InitLayers(net)}}
}

// Validate reports everything that is wrong.
func (c *NeuralGreedy) Validate() error {
	numbers := errors.Join(c.NeuralBandit.Validate(), c.Net.Validate(), positive("noise-variance", c.NoiseVariance),
		positive("prior-variance", c.PriorVariance), c.Descent.Validate(), c.Exploration.Validate())
	return c.Descent.validateFor(numbers, c.Model)
}

// Build returns environment and agent.
func (c *NeuralGreedy) Build(periods int) (lab.Environment, lab.Agent) {
	return c.environment(), newAgent(c.Model(), c.config(periods), "", c.Exploration)
}

// NeuralIndependent is Thompson sampling that takes the actions for independent arms, under the Gaussian law that has the mean
// and variance of the generator's rewards.
type NeuralIndependent struct{ NeuralBandit }

// Build returns environment and agent.
func (c *NeuralIndependent) Build(int) (lab.Environment, lab.Agent) {
	b := c.bandit()
	variance := func(in lab.Inputs) (prior, noise *Node) {
		// Without noise the posterior would be a point after one observation of an arm; this is as good as one.
		return MulScalar(OnesLike(in["noise"]), b.RewardVariance()), MaxScalar(Square(in["noise"]), 1e-6)
	}
	return c.environment(), exactAgent{train.IndependentGaussian{Arms: c.Actions}, variance}
}
