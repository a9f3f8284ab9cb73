package learners

import (
	"fmt"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Diagonal is an agent with the diagonal linear hypermodel of appendix D: one network with parameters DBz + mu + Cz and
// a diagonal C, so that the index has one number for each parameter. Rows of B are on the unit hypersphere. The text of
// the paper allows two readings:
//
//   - Diagonal rows, the default: B is diagonal like C, and a row is 1 or -1. C can cancel DB, so that predictions
//     become certain as data arrive.
//   - Dense rows: a row has N_theta numbers. A diagonal C cannot cancel DB, and nearly all of the prior's variance
//     remains, whatever the data. B has N_theta^2 numbers for each run: 99 MB for the paper's network.
type Diagonal struct {
	Net
	PriorRows string `help:"rows of the prior's B on the unit hypersphere: diagonal (1 or -1), or dense"`
	Perturbed
}

// The two readings of the rows of B.
const (
	diagonalRows = "diagonal"
	denseRows    = "dense"
)

// NewDiagonal returns the settings of appendix D.
func NewDiagonal(arms bool) *Diagonal {
	c := &Diagonal{Net: Net{[]int{60, 60}}, PriorRows: diagonalRows, Perturbed: perturbed()}
	c.StepSize, c.IndexSet, c.Indices, c.PriorMultiplier = 0.008, train.Antithetic.String(), 4, 0.1
	if arms {
		c.Hidden, c.PriorMultiplier, c.Perturbation = nil, 1, 1
	}
	return c
}

// Model returns the hypermodel of appendix D. The deviations of the prior are the deviations of the world's own
// network, adapted to the width of this network so that its output has the same variance.
func (c *Diagonal) Model(p bandit.Problem) hyper.Model {
	b := c.base(p)
	layout := hyper.PerParameter(hyper.NumTheta(b), 1)
	prior := &hyper.Prior{Layout: layout, Rows: hyper.RowsSphere}
	if c.PriorRows == denseRows {
		prior.Layout = hyper.Dense(hyper.NumTheta(b), hyper.NumTheta(b))
	}
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

// Learner returns the learner for a problem.
func (c *Diagonal) Learner(p bandit.Problem, periods int) learner.Learner {
	return filled(c.Model(p), p, periods, c.Perturbed).WithDefaults()
}

// Validate returns all faults.
func (c *Diagonal) Validate(p *bandit.Problem) error {
	var rows error
	if c.PriorRows != diagonalRows && c.PriorRows != denseRows {
		rows = fmt.Errorf("prior-rows must be %s or %s, got %q", diagonalRows, denseRows, c.PriorRows)
	}
	return faultsOf(c, p, c.Net.check(), rows, c.Perturbed.check())
}
