package learners

import (
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Hypernetwork is an agent with a hypernetwork (section 2.4): an MLP from the index to the parameters of the base
// model, with an additive prior that is linear in the index. The default hypernetwork has, within a few percent, as
// many parameters as the linear hypermodel in the same world. The paper leaves open what such a hypermodel gains
// (section 6).
type Hypernetwork struct {
	Net
	HyperHidden []int   `help:"widths of the hypernetwork's hidden layers, as 27 or 16x16"`
	IndexDim    int     `want:"at least 1" help:"dimension of the index: for all arms, or for each layer of the prior"`
	InitialMap  float64 `want:"not negative" help:"scale of the initial weights, relative to Glorot uniform"`
	Perturbed
}

// NewHypernetwork returns settings that suit networks, or arms.
func NewHypernetwork(arms bool) *Hypernetwork {
	c := &Hypernetwork{Net: Net{[]int{10, 10}}, HyperHidden: []int{27}, IndexDim: 10, InitialMap: 1}
	c.Perturbed = perturbed()
	c.StepSize, c.IndexSet, c.Indices = 0.0026, train.Frame.String(), 60
	if arms {
		c.Hidden, c.HyperHidden, c.StepSize, c.Perturbation = nil, []int{5}, 0.01, 1
		c.IndexSet, c.Indices = train.IID.String(), 64
	}
	return c
}

// Model returns the hypernetwork as a hypermodel.
func (c *Hypernetwork) Model(p bandit.Problem) hyper.Model {
	b := c.base(p)
	blocks := func(b hyper.BaseModel) hyper.Layout { return hyper.PerGroup(b, c.IndexDim) }
	prior := c.additive(p, b, blocks, hyper.RowsSphere)
	return hyper.Model{
		Base: b,
		Hyper: hyper.Network{
			P: index.Gaussian{N: prior.Layout.IndexDim()}, Hidden: c.HyperHidden, Params: hyper.NumTheta(b),
			InitW: hyper.InitScaled(c.InitialMap, hyper.InitGlorotUniform),
		},
		Prior: prior,
	}
}

// Learner returns the learner for a problem.
func (c *Hypernetwork) Learner(p bandit.Problem, periods int) learner.Learner {
	return filled(c.Model(p), p, periods, c.Perturbed).WithDefaults()
}

// Validate returns all faults.
func (c *Hypernetwork) Validate(p *bandit.Problem) error {
	return faultsOf(c, p, c.Net.check(), c.Perturbed.check())
}
