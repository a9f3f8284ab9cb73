package learners

import (
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Ensemble is an agent with the ensemble hypermodel (section 2.2).
type Ensemble struct {
	Net
	Particles     int  `want:"at least 1" help:"number of particles in the ensemble"`
	AdditivePrior bool `help:"whether particles have an additive prior; no for the ensembles of appendix B"`
	Start
	Perturbed

	InitNu hyper.Initializer // initial particles; nil is normal with deviation 0.05, truncated at two deviations
}

// NewEnsemble returns settings that suit networks, or arms.
func NewEnsemble(arms bool) *Ensemble {
	c := &Ensemble{Net: Net{[]int{10, 10}}, Particles: 10, AdditivePrior: true, Start: Start{1},
		Perturbed: perturbed()}
	c.StepSize, c.Integrate = 0.02, train.Analytic.String()
	if arms {
		c.Hidden, c.Particles, c.StepSize, c.Perturbation = nil, 30, 0.05, 1
	}
	return c
}

// Model returns the ensemble as a hypermodel.
func (c *Ensemble) Model(p bandit.Problem) hyper.Model {
	b := c.base(p)
	init := c.InitNu
	if init == nil {
		init = hyper.InitTruncatedNormal(0.05)
	}
	m := hyper.Model{Base: b, Hyper: hyper.Ensemble{Particles: c.Particles, Params: hyper.NumTheta(b),
		InitNu: c.scaled(init)}}
	if c.AdditivePrior {
		dense := func(b hyper.BaseModel) hyper.Layout { return hyper.Dense(hyper.NumTheta(b), c.Particles) }
		m.Prior = c.additive(p, b, dense, hyper.RowsGaussian)
	}
	return m
}

// Learner returns the learner for a problem.
func (c *Ensemble) Learner(p bandit.Problem, periods int) learner.Learner {
	return filled(c.Model(p), p, periods, c.Perturbed).WithDefaults()
}

// Validate returns all faults.
func (c *Ensemble) Validate(p *bandit.Problem) error {
	return faultsOf(c, p, c.Net.check(), c.Perturbed.check())
}
