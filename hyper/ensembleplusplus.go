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
// Let the prior be N(0, sigma_p^2 I), and the variance of the noise sigma_w^2. The posterior after t data is
// N(mu_t, Sigma_t), and A_t is a root of Sigma_t in expectation, E A_t A_t^T = Sigma_t. The initial A_0 is sigma_p B,
// where the rows of B are perturbations. Datum t has a perturbation a_t in R^M too, with E a a^T = I/M, and
//
//	A_t = Sigma_t (Sigma_{t-1}^{-1} A_{t-1} + x_t a_t^T / sigma_w)
//
// Let k_t = Sigma_t x_t / sigma_w^2 be the gain. From Sigma_t^{-1} = Sigma_{t-1}^{-1} + x x^T / sigma_w^2 follows
// Sigma_t Sigma_{t-1}^{-1} = I - k x^T. A datum therefore changes A by a matrix of rank one, in O(d^2 + d M) including
// the gain:
//
//	A_t = A_{t-1} + k_t (sigma_w a_t - A_{t-1}^T x_t)^T,   mu_t = mu_{t-1} + k_t (y_t - mu_{t-1}^T x_t)
//
// This is the minimiser that train.Exact computes for any linear hypermodel, with C = A. Ensemble++ is therefore the
// paper's linear hypermodel (section 2.3) with a dense C that starts as a prior, trained exactly. nu is (mu [runs, d],
// A [runs, d, M]). The other methods that train [Linear], such as SGD, can train this belief as well.
type EnsemblePlusPlus struct {
	Features int
	P        index.Distribution // p_z, with its perturbations; M is its dimension
}

var (
	_ Sized   = EnsemblePlusPlus{}
	_ Capable = EnsemblePlusPlus{}
	_ Hosted  = EnsemblePlusPlus{}
)

// ForInputs returns the belief for inputs of the given number of features.
func (b EnsemblePlusPlus) ForInputs(features int) Belief {
	b.Features = features
	return b
}

// model returns the linear hypermodel that the belief is, except for its initial parameters.
func (b EnsemblePlusPlus) model() Model {
	return Model{Base: base.Linear{Features: b.Features}, Hyper: Linear{Layout: Dense(b.Features, b.P.Dim()), P: b.P}}
}

// Validate reports invalid fields.
func (b EnsemblePlusPlus) Validate() error {
	err := validateIndex(b.P)
	if err == nil {
		err = b.model().Validate()
	}
	return faults.Prefix("hyper.EnsemblePlusPlus: ", err)
}

func (b EnsemblePlusPlus) Index() index.Distribution { return b.P }
func (b EnsemblePlusPlus) Inputs() int               { return b.Features }

// NumInvolved returns the number of trained parameters.
func (b EnsemblePlusPlus) NumInvolved() int { return b.model().NumInvolved() }

// UnitVariance returns the sigma_p^2 for which predictions before any data have variance 1 over standardised inputs.
func (b EnsemblePlusPlus) UnitVariance() float64 { return b.model().UnitVariance() }

// Init sets mu to 0, and draws A_0. scale is sigma_p, [runs]; nil means 1.
func (b EnsemblePlusPlus) Init(s rng.Stream, scale *Node) Params {
	a := b.P.Perturbation(s.Named("A"), b.Features)
	if scale != nil {
		a = Mul(a, InsertAxes(scale, -1, -1))
	}
	nu := []*Node{ZerosLike(Squeeze(Slice(a, AxisRange(), AxisRange(), AxisElem(0)), 2)), a}
	return Params{Nu: nu}
}

// Predict returns x^T (mu + A z), [runs, indices, inputs].
func (b EnsemblePlusPlus) Predict(p Params, z index.Set, x *Node) *Node {
	return b.model().Predict(p, z, x)
}

// Capabilities returns the capabilities of a linear hypermodel, including its exact minimiser.
func (b EnsemblePlusPlus) Capabilities() Capabilities { return b.model().Capabilities() }

// OnHost supports Gaussian reference distributions.
func (b EnsemblePlusPlus) OnHost(p HostParams) HostSample { return b.model().OnHost(p) }
