package learners

import (
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/learner"
)

// OneSparse is an agent with the one-sparse hypermodel of section 5.
type OneSparse struct {
	Alpha float64 `want:"not negative" help:"alpha in the hypermodel's softmax of beta nu_m (z_m^2 + alpha)"`
	Beta  float64 `want:"positive" help:"beta in the hypermodel's softmax"`
	Perturbed
}

// NewOneSparse returns the settings of section 5.
func NewOneSparse(bool) *OneSparse {
	c := &OneSparse{Alpha: 0.01, Beta: 10, Perturbed: perturbed()}
	c.Descent, c.PriorVariance, c.Perturbation, c.Policy = NewDescent(), 0, 1, explore.IDS{N: 500}
	c.StepSize, c.Steps, c.Batch, c.Indices = 0.3, 5, 32, 100
	return c
}

// Model returns the hypermodel of section 5.
func (c *OneSparse) Model(p bandit.Problem) hyper.Model {
	b := Net{}.base(p)
	return hyper.Model{Base: b, Hyper: hyper.OneSparse{N: hyper.NumTheta(b), Alpha: c.Alpha, Beta: c.Beta}}
}

// Learner returns the learner for a problem.
func (c *OneSparse) Learner(p bandit.Problem, periods int) learner.Learner {
	return filled(c.Model(p), p, periods, c.Perturbed).WithDefaults()
}

// Validate returns all faults.
func (c *OneSparse) Validate(p *bandit.Problem) error { return faultsOf(c, p, c.check()) }
