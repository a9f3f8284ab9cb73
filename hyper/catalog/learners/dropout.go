package learners

import (
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/learner"
)

// Dropout is an agent with dropout (appendix E). A mask of hidden units is the index.
type Dropout struct {
	Net
	Keep float64 `help:"probability of keeping a hidden unit"`
	Start
	Variances
	Descent
	Exploration
}

// NewDropout returns the settings of appendix E.
func NewDropout(bool) *Dropout {
	c := &Dropout{
		Net: Net{[]int{100, 100}}, Keep: 0.5, Start: Start{1}, Variances: newVariances(), Descent: networkDescent(),
		Exploration: thompson(),
	}
	c.StepSize, c.Indices, c.PriorVariance = 0.009, 4, 20
	return c
}

// Model returns dropout as a hypermodel.
func (c *Dropout) Model(p bandit.Problem) hyper.Model {
	net := c.network(p)
	return hyper.Model{Base: net, Hyper: hyper.Dropout{Net: net, Keep: c.Keep, InitNu: c.scaled(hyper.InitLayers(net))}}
}

// Learner returns the learner for a problem.
func (c *Dropout) Learner(p bandit.Problem, periods int) learner.Learner {
	return filled(c.Model(p), p, periods, c.Variances, c.Descent, c.Exploration).WithDefaults()
}

// Validate returns all faults.
func (c *Dropout) Validate(p *bandit.Problem) error {
	var keep, hidden error
	if !(c.Keep > 0 && c.Keep <= 1) {
		keep = fmt.Errorf("keep, the probability of keeping a unit, must be in (0, 1], got %v", c.Keep)
	}
	if len(c.Hidden) == 0 {
		hidden = errors.New("dropout needs hidden units: set hidden, for example to 100x100")
	}
	return faultsOf(c, p, c.Net.check(), keep, hidden, c.Descent.check(), c.Exploration.Check())
}
