package hyper

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// EnsemblePlusPlus is the linear Ensemble++ of Li et al. ("Scalable exploration via Ensemble++"): f(x) = x^T theta with
//
//	theta = mu + A z,   A in R^{d x M},   E z z^T = I
//
// Under the prior N(0, sigma_p^2 I) and noise of variance sigma_w^2 the posterior after t data is N(mu_t, Sigma_t), and
// A is a root of Sigma_t in expectation, E A_t A_t^T = Sigma_t: rows of A_0 = sigma_p B are perturbations as those of
// the data, a_t in R^M with E a a^T = I/M, and
//
//	A_t = Sigma_t (Sigma_{t-1}^{-1} A_{t-1} + x_t a_t^T / sigma_w)
//
// With the gain k_t = Sigma_t x_t / sigma_w^2, Sigma_t^{-1} = Sigma_{t-1}^{-1} + x x^T / sigma_w^2 makes Sigma_t
// Sigma_{t-1}^{-1} = I - k x^T: a datum changes A by a matrix of rank one, in O(d^2 + d M) with the gain,
//
//	A_t = A_{t-1} + k_t (sigma_w a_t - A_{t-1}^T x_t)^T,   mu_t = mu_{t-1} + k_t (y_t - mu_{t-1}^T x_t)
//
// That is the minimiser that train.Exact moves for any linear hypermodel, C = A: so Ensemble++ is the paper's linear
// hypermodel (section 2.3) with a dense C that starts as a prior, trained exactly, and nu is (mu [runs, d], A [runs, d,
// M]). Other ways to train it, by SGD, are as good as for [Linear].
type EnsemblePlusPlus struct {
	Features int
	P        index.Distribution // of z, with its perturbations; M is its dimension
}

var (
	_ Sized   = EnsemblePlusPlus{}
	_ Capable = EnsemblePlusPlus{}
	_ Hosted  = EnsemblePlusPlus{}
)

// ForInputs is the belief for inputs of a number of features.
func (b EnsemblePlusPlus) ForInputs(features int) Belief {
	b.Features = features
	return b
}

// model is what it is as a linear hypermodel, which starts in another way.
func (b EnsemblePlusPlus) model() Model {
	return Model{Base: base.Linear{Features: b.Features}, Hyper: Linear{Layout: Dense(b.Features, b.P.Dim()), P: b.P}}
}

// Validate reports what is wrong.
func (b EnsemblePlusPlus) Validate() error {
	err := validateIndex(b.P)
	if err == nil {
		err = b.model().Validate()
	}
	return faults.Prefix("hyper.EnsemblePlusPlus: ", err)
}

func (b EnsemblePlusPlus) Index() index.Distribution { return b.P }
func (b EnsemblePlusPlus) Inputs() int               { return b.Features }

// NumInvolved is the number of parameters of a function.
func (b EnsemblePlusPlus) NumInvolved() int { return b.model().NumInvolved() }

// UnitVariance is the sigma_p^2 with which predictions before data have variance 1 over standardised inputs.
func (b EnsemblePlusPlus) UnitVariance() float64 { return b.model().UnitVariance() }

// Init has mu = 0, and draws A_0; scale is sigma_p.
func (b EnsemblePlusPlus) Init(s rng.Stream, scale *Node) Params {
	a := b.P.Perturbation(s.Named("A"), b.Features)
	if scale != nil {
		a = Mul(a, InsertAxes(scale, -1, -1))
	}
	nu := []*Node{ZerosLike(Squeeze(Slice(a, AxisRange(), AxisRange(), AxisElem(0)), 2)), a}
	return Params{Nu: nu, Nu0: nu}
}

// Predict returns x^T (mu + A z), [runs, indices, inputs].
func (b EnsemblePlusPlus) Predict(p Params, z index.Set, x *Node) *Node {
	return b.model().Predict(p, z, x)
}

// Capabilities are those of a linear hypermodel, its exact minimiser among them.
func (b EnsemblePlusPlus) Capabilities() Capabilities { return b.model().Capabilities() }

// OnHost is for Gaussian references.
func (b EnsemblePlusPlus) OnHost(p HostParams) HostSample { return b.model().OnHost(p) }
