package learners

import (
	"errors"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// MeanField is an agent with Bayes by Backprop (appendix D).
type MeanField struct {
	Net
	InitialDeviation float64 `help:"standard deviation of each parameter before any data"`
	PriorDeviation   float64 `run:"true" help:"sigma_p: standard deviation of each parameter under the prior"`
	KLStrength       float64 `run:"true" help:"weight of the divergence from the prior; 1 is the variational bound's"`
	NoiseVariance    float64 `run:"true" help:"sigma_w^2 of the loss: the weight of the data"`
	Descent
	Exploration
}

// NewMeanField has the settings of appendix D.
func NewMeanField(arms bool) *MeanField {
	c := &MeanField{
		Net: Net{[]int{60, 60}}, InitialDeviation: 0.1, PriorDeviation: 0.2, KLStrength: 0.17, NoiseVariance: 1,
		Descent: networkDescent(), Exploration: thompson(),
	}
	c.StepSize, c.Indices = 0.002, 4
	if arms {
		c.Hidden, c.InitialDeviation, c.PriorDeviation, c.KLStrength, c.StepSize = nil, 1, 1.5, 1, 0.02
	}
	return c
}

// Model returns the mean-field hypermodel.
func (c *MeanField) Model(p bandit.Problem) hyper.Model {
	b := c.base(p)
	h := hyper.MeanField{Params: hyper.NumTheta(b), Deviation: c.InitialDeviation}
	if net, ok := b.(base.MLP); ok {
		h.InitM = hyper.InitLayers(net)
	}
	return hyper.Model{Base: b, Hyper: h}
}

// Learner returns the learner.
func (c *MeanField) Learner(p bandit.Problem, periods int) learner.Learner {
	l := c.Descent.learner(c.Model(p), c.Policy, p, periods)
	l.Train.Regularize = train.KL
	l.NoiseVariance, l.PriorVariance, l.KL = c.NoiseVariance, single(single(c.PriorDeviation)*single(c.PriorDeviation)), orNone(c.KLStrength)
	return l.WithDefaults()
}

// Validate reports everything that is wrong.
func (c *MeanField) Validate(p *bandit.Problem) error {
	own := errors.Join(c.Net.check(), faults.Positive("initial-deviation", c.InitialDeviation), faults.Positive("prior-deviation", c.PriorDeviation),
		faults.NotNegative("kl-strength", c.KLStrength), faults.Positive("noise-variance", c.NoiseVariance), c.Descent.check(), c.Exploration.Check())
	return faultsOf(own, p, c.Descent, c.Learner)
}
