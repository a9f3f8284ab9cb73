package hyper

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Model is a distribution over functions: a base model, a hypermodel with its reference distribution, and optionally an
// additive prior. Given an index z it is the function f^_{g_nu(z)}, plus f~_{DBz} with a prior (section 2.5), or f_{DBz + g_nu(z)} when
// the prior has no base model of its own.
type Model struct {
	Base  BaseModel
	Hyper Hypermodel
	Prior *Prior // nil: none
}

// Params are the parameters of a Model for a batch of runs.
type Params struct {
	Nu    []*Node // trained
	Nu0   []*Node // their initial values, which the regulariser anchors to
	Prior *Node   // entries of D B, fixed; nil without prior
	// PriorTheta may stand for Prior where indices are one-hot: D B z at each of them, [runs, N_z, N_theta], laid out as an ensemble's nu.
	PriorTheta *Node
}

// Index is the reference distribution p_z.
func (m Model) Index() index.Distribution { return m.Hyper.Index() }

// Init draws the initial parameters. priorScale is sigma_p of each run, [runs], or nil for 1: it multiplies a D that is
// given, and predictions of the default prior.
//
// Where the hypermodel's initializers are nil, an additive prior is all that is seen before any data: the hypermodel's
// own functions are then 0 (hidden layers of a network are drawn, and are the same for all indices of a linear
// hypermodel or a hypernetwork). Without an additive prior its start nu_0 is the prior (section 2.2): g_{nu_0}(z) is as
// wide as D B z would be by default. See [Prior] for how wide that is.
func (m Model) Init(s rng.Stream, priorScale *Node) Params {
	p := Params{Nu: m.initNu(s.Named("init"), priorScale)}
	p.Nu0 = p.Nu
	if m.Prior != nil {
		p.Prior = m.prior().Init(s.Named("prior"), priorScale)
	}
	return p
}

// Predict returns the predictions at inputs x by the functions that the indices z identify: [runs, indices, inputs].
func (m Model) Predict(p Params, z index.Set, x *Node) *Node {
	if m.Prior == nil {
		return m.Base.Apply(m.Hyper.Theta(p.Nu, z), x)
	}
	if m.Prior.Base == nil {
		return m.Base.Apply(m.Theta(p, z), x)
	}
	return Add(m.Base.Apply(m.Hyper.Theta(p.Nu, z), x), m.Prior.Base.Apply(m.PriorTheta(p, z), x))
}

// Sample draws n functions for each run and returns their predictions at x: [runs, n, inputs]. It is Predict at fresh
// indices; where the law of theta is known without z (see [Model.Marginal]) theta is drawn directly.
func (m Model) Sample(p Params, s rng.Stream, n int, x *Node) *Node {
	if mu, sd, ok := m.Marginal(p); ok {
		theta := Add(InsertAxes(mu, 1), Mul(InsertAxes(sd, 1), s.Normal(n, NumTheta(m.Base))))
		return m.Base.Apply(theta, x)
	}
	return m.Predict(p, m.Index().Sample(s, n), x)
}

// Marginal returns mean and standard deviation, each [runs, N_theta], of the components of theta (prior included),
// when those are independent Gaussians: each sees a Gaussian part of the index of its own, as in section 4.1.
func (m Model) Marginal(p Params) (mu, sd *Node, ok bool) {
	l, isLinear := m.Hyper.(Linear)
	if !isLinear || l.uniform() != 1 || !m.gaussian() || !m.LinearInTheta() {
		return nil, nil, false
	}
	if m.Prior != nil && !m.Prior.Layout.Equal(l.Layout) {
		return nil, nil, false
	}
	mu, c := m.Affine(p)
	return mu, Sqrt(ReduceSum(Square(c), 2)), true
}

func (m Model) gaussian() bool {
	switch m.Index().(type) {
	case index.Gaussian, index.PerArm:
		return true
	}
	return false
}

// LinearInTheta tells whether the predictions are phi(x)^T theta with one feature map phi for the trained part and the
// prior: then perturbed SGD needs the data only through sufficient statistics.
func (m Model) LinearInTheta() bool {
	_, ok := m.Base.(LinearBase)
	return ok && (m.Prior == nil || m.Prior.shares(m.Base))
}

// Theta returns the parameters of the whole function, g_nu(z) + D B z, of a model that is LinearInTheta or whose prior is in
// the parameters.
func (m Model) Theta(p Params, z index.Set) *Node {
	theta := m.Hyper.Theta(p.Nu, z)
	if m.Prior != nil {
		theta = Add(theta, m.PriorTheta(p, z))
	}
	return theta
}

// PriorTheta returns the prior's parameters D B z, [runs, indices, N_theta]. No gradient flows into them.
func (m Model) PriorTheta(p Params, z index.Set) *Node {
	if p.PriorTheta != nil {
		return StopGradient(takeRows(p.PriorTheta, z))
	}
	return m.Prior.Theta(p.Prior, z)
}

// Affine returns mu [runs, N_theta] and the entries of C + D B [runs, N_theta, Width] of a model with a [Linear]
// hypermodel whose layout its prior shares: Theta is mu + (C + D B) z.
func (m Model) Affine(p Params) (mu, c *Node) {
	mu, c = p.Nu[0], p.Nu[1]
	if m.Prior != nil {
		c = Add(c, p.Prior)
	}
	return mu, c
}
