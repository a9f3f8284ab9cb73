package paper

import (
	"errors"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// HyperNet is the part of a setting that describes a hypernetwork (section 2.4): an MLP from the index to the base model's parameters.
// The defaults have as many parameters as the linear hypermodel of the same experiment, within a few percent: the paper leaves open what
// such a hypermodel gains (section 6).
type HyperNet struct {
	HyperHidden string `key:"hyper-hidden" help:"hidden widths of the hypernetwork, as 27 or 16x16"`
}

// Validate reports what is wrong.
func (n HyperNet) Validate() error {
	_, err := widths("hyper-hidden", n.HyperHidden)
	return err
}

func (n HyperNet) model(z index.Distribution, params int) hyper.Network {
	hidden, _ := widths("", n.HyperHidden)
	return hyper.Network{P: z, Hidden: hidden, Params: params, InitW: hyper.InitGlorotUniform}
}

// GaussianNetwork is the agent with a hypernetwork on the Gaussian bandit.
type GaussianNetwork struct {
	GaussianBandit
	IndexDim int `key:"index-dim" help:"dimension of the index, which all arms share"`
	HyperNet
	SGD
	Exploration
}

func newGaussianNetwork() *GaussianNetwork {
	c := &GaussianNetwork{GaussianBandit: newGaussianBandit(), IndexDim: 10, HyperNet: HyperNet{"5"}, SGD: newSGD(), Exploration: thompson()}
	c.StepSize, c.Steps, c.Batch, c.Indices, c.Optimizer = 0.01, 4, 64, 64, "adam"
	return c
}

// Model returns the hypernetwork, with an additive prior that is linear in the index.
func (c *GaussianNetwork) Model() hyper.Model {
	arms := base.Tabular{Arms: c.Arms}
	return hyper.Model{
		Base:  arms,
		Hyper: c.model(index.Gaussian{N: c.IndexDim}, c.Arms),
		Prior: &hyper.Prior{Base: arms, Layout: hyper.Dense(c.Arms, c.IndexDim), Rows: hyper.RowsSphere},
	}
}

// Validate reports everything that is wrong.
func (c *GaussianNetwork) Validate() error {
	numbers := errors.Join(c.GaussianBandit.Validate(), atLeast("index-dim", c.IndexDim, 1), c.HyperNet.Validate(), c.SGD.Validate(), c.Exploration.Validate())
	return c.SGD.validateFor(numbers, c.Model)
}

// Build returns environment and agent.
func (c *GaussianNetwork) Build(periods int) (lab.Environment, lab.Agent) {
	return c.environment(), newAgent(c.Model(), c.config(periods), "prior-variance", c.Exploration)
}

// NeuralNetwork is the agent with a hypernetwork on the neural network bandit: index, base model and prior are those of NeuralLinear.
type NeuralNetwork struct {
	NeuralLearner
	IndexDim int `key:"index-dim" help:"index dimension of each layer of the prior network; the index has as many such parts as it has layers"`
	HyperNet
	InitialMap float64 `key:"initial-map" help:"scale of the hypernetwork's initial weights, as a multiple of Glorot uniform"`
}

func newNeuralNetwork() *NeuralNetwork {
	c := &NeuralNetwork{NeuralLearner: newNeuralLearner("10x10"), IndexDim: 10, HyperNet: HyperNet{"27"}, InitialMap: 1}
	c.StepSize, c.IndexSet, c.Indices = 0.0026, string(train.Frame), 60
	return c
}

// Model returns the hypernetwork.
func (c *NeuralNetwork) Model() hyper.Model {
	net, generator := c.network(c.Hidden), c.bandit().Generator()
	prior := hyper.PerGroup(generator, c.IndexDim)
	h := c.model(index.Gaussian{N: prior.IndexDim()}, hyper.NumTheta(net))
	h.InitW = hyper.InitScaled(c.InitialMap, hyper.InitGlorotUniform)
	return hyper.Model{Base: net, Hyper: h, Prior: c.prior(prior, hyper.RowsSphere)}
}

// Validate reports everything that is wrong.
func (c *NeuralNetwork) Validate() error {
	numbers := errors.Join(c.NeuralLearner.Validate(), atLeast("index-dim", c.IndexDim, 1), c.HyperNet.Validate(), notNegative("initial-map", c.InitialMap))
	return c.validateFor(numbers, c.Model)
}

// Build returns environment and agent.
func (c *NeuralNetwork) Build(periods int) (lab.Environment, lab.Agent) {
	return c.build(c.Model(), periods)
}
