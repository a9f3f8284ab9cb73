package learners

import (
	"errors"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/learner"
)

// OneSparse is an agent with the one-sparse hypermodel of section 5.
type OneSparse struct {
	Alpha float64 `help:"alpha of the hypermodel's softmax of beta nu_m (z_m^2 + alpha)"`
	Beta  float64 `help:"beta of the hypermodel's softmax"`
	Prior
	Descent
	Perturbing
	Exploration
}

// NewOneSparse has the settings of section 5.
func NewOneSparse(bool) *OneSparse {
	c := &OneSparse{
		Alpha: 0.01, Beta: 10, Prior: newPrior(), Descent: NewDescent(), Perturbing: Perturbing{1}, Exploration: Exploration{explore.IDS{N: 500}},
	}
	c.PriorVariance = 0
	c.StepSize, c.Steps, c.Batch, c.Indices = 0.3, 5, 32, 100
	return c
}

// Model returns the hypermodel of section 5.
func (c *OneSparse) Model(p bandit.Problem) hyper.Model {
	b := Net{}.base(p)
	return hyper.Model{Base: b, Hyper: hyper.OneSparse{N: hyper.NumTheta(b), Alpha: c.Alpha, Beta: c.Beta}}
}

// Learner returns the learner.
func (c *OneSparse) Learner(p bandit.Problem, periods int) learner.Learner {
	l := c.Descent.learner(c.Model(p), c.Policy, p, periods)
	c.Prior.set(&l, p)
	c.Perturbing.set(&l)
	return l.WithDefaults()
}

// Validate reports everything that is wrong.
func (c *OneSparse) Validate(p *bandit.Problem) error {
	own := errors.Join(faults.NotNegative("alpha", c.Alpha), faults.Positive("beta", c.Beta), c.Prior.check(), c.Descent.check(), c.Perturbing.check(),
		c.Exploration.Check())
	return faultsOf(own, p, c.Descent, c.Learner)
}
