package hyper

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Model is a distribution over functions. It consists of a base model, a hypermodel with its reference distribution,
// and optionally an additive prior. An index z identifies the function f^_{g_nu(z)}; with a prior, the function
// f^_{g_nu(z)} + f~_{DBz} (section 2.5). If the prior has no base model of its own, the function is f_{DBz + g_nu(z)}.
type Model struct {
	Base  BaseModel
	Hyper Hypermodel
	Prior *Prior // nil: none
}

func (m Model) Index() index.Distribution { return m.Hyper.Index() }

// Inputs returns the number of features of an input. It returns 0 for arms, and -1 if the base model does not know the
// number.
func (m Model) Inputs() int { return inputsOf(m.Base) }

var _ Capable = Model{}

// Init draws the initial parameters. priorScale is sigma_p of each run, [runs]; nil means 1. It multiplies the D of a
// prior if D is given, and otherwise the predictions of the default prior.
//
// The following holds if the hypermodel's initializers are nil. With an additive prior, predictions before any data are
// the prior's predictions, because the hypermodel's own functions are 0. The hidden layers of a network are drawn, and
// are the same for all indices of a linear hypermodel or a hypernetwork. Without an additive prior, the hypermodel's
// start nu_0 is the prior (section 2.2): g_{nu_0}(z) has the standard deviations that D B z would have by default. See
// [Prior] for these.
func (m Model) Init(s rng.Stream, priorScale *Node) Params {
	p := Params{Nu: m.initNu(s.Named("init"), priorScale)}
	if m.Prior == nil {
		return p
	}
	db := m.prior().Init(s.Named("prior"), priorScale)
	if m.byIndex() {
		p.Fixed = map[string]*Node{priorTheta: Transpose(db, 1, 2)}
	} else {
		p.Fixed = map[string]*Node{priorMatrix: db}
	}
	return p
}

// Names of the nodes in Params.Fixed of a Model, which has one of them.
const (
	priorMatrix = "prior"       // the entries of D B
	priorTheta  = "prior.theta" // D B z at each one-hot index, [runs, N_z, N_theta]: the transpose of D B
)

// byIndex reports whether a dense D B is kept as priorTheta. A particle's parameters are then together in memory, as in
// nu. If C is not dense, B can be as large as N_theta x N_theta, and XLA on a CPU multiplies it by a few indices ten
// times as fast in this order.
func (m Model) byIndex() bool {
	if len(m.Prior.Layout.Sizes) > 1 {
		return false
	}
	_, particles := m.Hyper.(Particles)
	h, ok := m.Hyper.(structured)
	return particles || ok && len(h.Structure().Sizes) > 1
}

// Predict returns the predictions at inputs x of the functions that the indices z identify, [runs, indices, inputs].
func (m Model) Predict(p Params, z index.Set, x *Node) *Node {
	theta := m.Hyper.Theta(p.Nu, z)
	if m.Prior == nil || m.Prior.Base == nil {
		return m.Base.Apply(parts{m}.Complete(theta, p, z), x)
	}
	return Add(m.Base.Apply(theta, x), parts{m}.FixedPart(p, z, x, 1))
}

// Capabilities returns the capabilities that follow from the model's base model, hypermodel and prior.
func (m Model) Capabilities() Capabilities {
	own := parts{m}
	c := Capabilities{Parametric: own}
	if m.apart() {
		c.Additive = own
	}
	c.Linear, _ = m.Base.(LinearBase)
	if h, ok := m.Hyper.(structured); ok {
		c.Affine = affine{own, h.Structure()}
	}
	c.Particles, _ = m.Hyper.(Particles)
	c.Variational, _ = m.Hyper.(Variational)
	if m.independent() {
		c.Marginals = own
	}
	c.Gradient, _ = m.Base.(OwnGradient)
	if m.Prior == nil {
		c.Each, _ = m.Hyper.(Each)
	}
	return c
}

// structured is a hypermodel of the form mu + C z.
type structured interface{ Structure() Layout }

// parts is a Model with the methods of its capabilities.
type parts struct{ Model }

// affine is a Model with a structured hypermodel.
type affine struct {
	parts
	layout Layout
}

func (m affine) Structure() Layout { return m.layout }

func (m affine) PriorMatrix(p Params) (*Node, Layout) {
	if m.Prior == nil || m.apart() {
		return nil, Layout{}
	}
	if theta := p.Fixed[priorTheta]; theta != nil {
		return Transpose(theta, 1, 2), m.Prior.Layout
	}
	return p.Fixed[priorMatrix], m.Prior.Layout
}

func (m parts) NumTheta() int { return m.Hyper.NumTheta() }

// NumInvolved returns the number of trained parameters involved in each index sample (section 4.1).
func (m Model) NumInvolved() int { return m.Hyper.NumInvolved() }

// Trained returns g_nu(z), [runs, indices, N_theta].
func (m parts) Trained(nu []*Node, z index.Set) *Node { return m.Hyper.Theta(nu, z) }

// Complete adds D B z to theta, if the prior is added to the base model's parameters, or if the prior and the base
// model are the same linear function of their parameters. Otherwise it returns theta.
func (m parts) Complete(theta *Node, p Params, z index.Set) *Node {
	if m.Prior == nil || m.apart() {
		return theta
	}
	return Add(theta, m.priorAt(p, z))
}

// FixedPart returns the predictions of the prior's base model; see [Additive].
func (m parts) FixedPart(p Params, z index.Set, x *Node, steps int) *Node {
	theta := m.priorAt(p, z)
	if z.Every && steps > 1 {
		theta = Concatenate(slices.Repeat([]*Node{theta}, steps), 1)
	}
	if steps > 1 {
		theta = Reshape(theta, theta.Shape().Dim(0)*steps, -1, theta.Shape().Dim(2))
	}
	return m.Prior.Base.Apply(theta, x)
}

// apart reports whether the prior is evaluated separately, with its own base model.
func (m Model) apart() bool { return m.Prior != nil && m.Prior.Base != nil && !m.linearInTheta() }

// linearInTheta reports whether the predictions are phi(x)^T theta, with the same feature map phi for the trained part
// and for the prior. Perturbed SGD then needs only sufficient statistics of the data.
func (m Model) linearInTheta() bool {
	_, ok := m.Base.(LinearBase)
	return ok && (m.Prior == nil || m.Prior.shares(m.Base))
}

// independent reports whether the components of theta, prior included, are independent Gaussians: each component
// depends on its own Gaussian part of the index, as in section 4.1.
func (m Model) independent() bool {
	h, ok := m.Hyper.(structured)
	if !ok || h.Structure().uniform() != 1 || !m.gaussian() || !m.linearInTheta() {
		return false
	}
	return m.Prior == nil || m.Prior.Layout.Equal(h.Structure())
}

// Marginal returns the means and the standard deviations of the components of theta, each [runs, N_theta]. See
// [Marginals] for the models that have them.
func (m parts) Marginal(p Params) (mu, sd *Node) {
	c := p.Nu[1]
	if m.Prior != nil {
		c = Add(c, p.Fixed[priorMatrix])
	}
	return p.Nu[0], Sqrt(ReduceSum(Square(c), 2))
}

// PredictAt returns the predictions with parameters theta, [runs, n, inputs]. theta includes the prior.
func (m parts) PredictAt(theta, x *Node) *Node { return m.Base.Apply(theta, x) }

func (m Model) gaussian() bool { return m.Index().Moments().Normal }

// priorAt returns the prior's parameters D B z, [runs, indices, N_theta]. No gradient flows into them.
func (m Model) priorAt(p Params, z index.Set) *Node {
	if theta := p.Fixed[priorTheta]; theta != nil {
		if z.ID != nil {
			return StopGradient(takeRows(theta, z))
		}
		return StopGradient(Einsum("rnz,rzp->rnp", z.Dense(), theta))
	}
	return m.Prior.Theta(p.Fixed[priorMatrix], z)
}
