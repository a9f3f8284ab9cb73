package learners

import (
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Diagonal is an agent with the diagonal linear hypermodel of appendix D: one network with parameters DBz + mu + Cz, C
// and B diagonal, so that an index has a number for each parameter and a row of B is 1 or -1.
type Diagonal struct {
	Net
	Perturbed
}

// NewDiagonal has the settings of appendix D.
func NewDiagonal(arms bool) *Diagonal {
	c := &Diagonal{Net: Net{[]int{60, 60}}, Perturbed: perturbed()}
	c.StepSize, c.IndexSet, c.Indices, c.PriorMultiplier = 0.008, train.Antithetic.String(), 4, 0.1
	if arms {
		c.Hidden, c.PriorMultiplier, c.Perturbation = nil, 1, 1
	}
	return c
}

// Model returns the hypermodel of appendix D. The prior's deviations are those of the world's own network, widened to
// this one, so that its output has the same variance.
func (c *Diagonal) Model(p bandit.Problem) hyper.Model {
	b := c.base(p)
	layout := hyper.PerParameter(hyper.NumTheta(b), 1)
	prior := &hyper.Prior{Layout: layout, Rows: hyper.RowsSphere}
	if net, ok := b.(base.MLP); ok && p.Truth != nil && p.Truth.Wider != nil {
		prior.StdDev = p.Truth.Wider(net.Layers)
	}
	return hyper.Model{
		Base: b,
		Hyper: hyper.Linear{
			Layout: layout, P: index.Gaussian{N: layout.IndexDim()}, InitC: hyper.InitZeros, InitM: hyper.InitZeros,
		},
		Prior: prior,
	}
}

// Learner returns the learner.
func (c *Diagonal) Learner(p bandit.Problem, periods int) learner.Learner {
	return filled(c, c.Model(p), p, periods).WithDefaults()
}

// Validate reports everything that is wrong.
func (c *Diagonal) Validate(p *bandit.Problem) error { return faultsOf(c, p) }
