package learners

import (
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// MeanField is an agent with Bayes by Backprop (appendix D). With KLStrength 1, the loss is the variational bound.
type MeanField struct {
	Net
	InitialDeviation float64 `want:"positive" help:"initial standard deviation of each parameter"`
	PriorDeviation   float64 `run:"true" want:"positive" help:"sigma_p: prior standard deviation of each parameter"`
	KLStrength       float64 `run:"true" want:"not negative" help:"weight of the KL divergence from the prior"`
	NoiseVariance    float64 `run:"true" want:"positive" help:"sigma_w^2 of the loss; sets the weight of the data"`
	Descent
	Exploration
}

// NewMeanField returns the settings of appendix D.
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

// Model returns the mean-field hypermodel for a problem.
func (c *MeanField) Model(p bandit.Problem) hyper.Model {
	b := c.base(p)
	h := hyper.MeanField{Params: hyper.NumTheta(b), Deviation: c.InitialDeviation}
	if net, ok := b.(base.MLP); ok {
		h.InitM = hyper.InitLayers(net)
	}
	return hyper.Model{Base: b, Hyper: h}
}

// Learner returns the learner for a problem.
func (c *MeanField) Learner(p bandit.Problem, periods int) learner.Learner {
	l := filled(c.Model(p), p, periods, c.Descent, c.Exploration)
	l.Train.Regularize, l.KL, l.NoiseVariance = train.KL, orNone(c.KLStrength), c.NoiseVariance
	l.Train.Unperturbed = true
	l.PriorVariance = single(single(c.PriorDeviation) * single(c.PriorDeviation))
	return l.WithDefaults()
}

// Validate returns all faults.
func (c *MeanField) Validate(p *bandit.Problem) error {
	return faultsOf(c, p, c.Net.check(), c.Descent.check(), c.Exploration.Check())
}
