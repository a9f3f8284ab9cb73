package learners

import (
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Single is an agent with one network, which is an ensemble of one particle. Its policy is annealed epsilon-greedy, or
// greedy.
type Single struct {
	Net
	Start
	Variances
	Descent
	Exploration
}

// NewSingle returns the settings of epsilon-greedy in section 4.2.
func NewSingle(arms bool) *Single {
	c := &Single{
		Net: Net{[]int{10, 10}}, Start: Start{1}, Variances: newVariances(), Descent: networkDescent(),
		Exploration: Exploration{explore.EpsilonGreedy{Anneal: 12}},
	}
	c.StepSize, c.Steps, c.Indices, c.Integrate = 0.005, 8, 1, train.Analytic.String()
	if arms {
		c.Hidden, c.StepSize = nil, 0.05
	}
	return c
}

// Model returns an ensemble of one base model.
func (c *Single) Model(p bandit.Problem) hyper.Model {
	b := c.base(p)
	h := hyper.Ensemble{Particles: 1, Params: hyper.NumTheta(b), InitNu: hyper.InitZeros}
	if net, ok := b.(base.MLP); ok {
		h.InitNu = hyper.InitLayers(net)
	}
	h.InitNu = c.scaled(h.InitNu)
	return hyper.Model{Base: b, Hyper: h}
}

// Learner returns the learner for a problem.
func (c *Single) Learner(p bandit.Problem, periods int) learner.Learner {
	return filled(c.Model(p), p, periods, c.Variances, c.Descent, c.Exploration).WithDefaults()
}

// Validate returns all faults.
func (c *Single) Validate(p *bandit.Problem) error {
	return faultsOf(c, p, c.Net.check(), c.Descent.check(), c.Exploration.Check())
}
