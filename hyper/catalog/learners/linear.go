package learners

import (
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Linear is an agent with a linear hypermodel and an additive prior. If each arm has one parameter, it is the
// hypermodel of section 4.1, mu_x + (sigma_p b_x + c_x)^T z_x, with a block of the index for each arm. Otherwise it is
// the hypermodel of section 4.2, with a dense trainable map and a prior with a block of the index for each layer. To
// scale the index by s in the trainable map, multiply InitialMap by s, and MapStep by s^2 (sgd) or s (adam).
type Linear struct {
	Net
	IndexDim   int     `want:"at least 1" help:"dimension of the index for each arm, or for each prior layer"`
	InitialMap float64 `want:"not negative" help:"factor of the initial C in mu + C z; 1 leaves C as it is drawn"`
	Perturbed

	InitC, InitM hyper.Initializer // initial C and mu; nil is Glorot uniform for C and zeros for mu
	MeanStart    bool              // mu starts at the mean of the world's own distribution of parameters
}

// NewLinear returns settings that suit networks, or arms.
func NewLinear(arms bool) *Linear {
	c := &Linear{Net: Net{[]int{10, 10}}, IndexDim: 10, InitialMap: 0.3, Perturbed: perturbed()}
	c.StepSize, c.IndexSet, c.Indices = 0.004, train.Frame.String(), 60
	if arms {
		c.Hidden = nil
		c.StepSize, c.Indices, c.Perturbation = 0.05, 20, 1
	}
	return c
}

// Model returns the hypermodel for a problem.
func (c *Linear) Model(p bandit.Problem) hyper.Model {
	b := c.base(p)
	h := hyper.Linear{InitC: c.InitC, InitM: c.InitM}
	if h.InitC == nil {
		h.InitC = hyper.InitGlorotUniform
	}
	if h.InitM == nil {
		h.InitM = hyper.InitZeros
	}
	if c.MeanStart && p.Truth != nil {
		h.InitM = hyper.InitConstant(p.Truth.Mean)
	}
	h.InitC = hyper.InitScaled(c.InitialMap, h.InitC)
	blocks := func(b hyper.BaseModel) hyper.Layout { return hyper.PerGroup(b, c.IndexDim) }
	if arms, ok := b.(hyper.LinearBase); ok && arms.Diagonal() {
		blocks = func(b hyper.BaseModel) hyper.Layout { return hyper.PerParameter(hyper.NumTheta(b), c.IndexDim) }
		h.Layout, h.P = blocks(b), index.PerArm{Arms: p.Actions, M: c.IndexDim}
	}
	prior := c.additive(p, b, blocks, hyper.RowsSphere)
	if h.P == nil {
		z := index.Gaussian{N: prior.Layout.IndexDim()}
		h.Layout, h.P = hyper.Dense(hyper.NumTheta(b), z.N), z
	}
	return hyper.Model{Base: b, Hyper: h, Prior: prior}
}

// Learner returns the learner for a problem.
func (c *Linear) Learner(p bandit.Problem, periods int) learner.Learner {
	return filled(c.Model(p), p, periods, c.Perturbed).WithDefaults()
}

// Validate returns all faults.
func (c *Linear) Validate(p *bandit.Problem) error {
	return faultsOf(c, p, c.Net.check(), c.Perturbed.check())
}
