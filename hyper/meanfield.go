package hyper

import (
	"cmp"
	"errors"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// MeanField is the diagonal linear hypermodel of Bayes by Backprop (appendix D; Blundell et al. 2015), theta_i = mu_i +
// softplus(rho_i) z_i with z ~ N(0, I). theta therefore has the distribution N(mu, diag softplus(rho)^2). nu is
// (mu, rho), each [runs, N_theta].
type MeanField struct {
	Params    int         // N_theta
	InitM     Initializer // nil is InitNormal(0.05); for a network, fan-in scaling with an output layer of 0
	Deviation float64     // initial standard deviation of each parameter; 0 means 0.05. The prior is in train.KL
}

var _ Hypermodel = MeanField{}

// Validate reports a size that is not positive, and a deviation that is negative or not finite.
func (h MeanField) Validate() error {
	err := faults.AtLeast("Params", h.Params, 1)
	if err == nil {
		err = faults.Size("Params", h.Params)
	}
	return faults.Prefix("hyper.MeanField: ", errors.Join(err, faults.NotNegative("Deviation", h.Deviation)))
}

func (h MeanField) Index() index.Distribution { return index.Gaussian{N: h.Params} }
func (h MeanField) NumTheta() int             { return h.Params }
func (h MeanField) NumInvolved() int          { return 2 * h.Params }

// startIn sets a nil InitM for a network: the hidden layers are drawn with fan-in scaling.
func (h MeanField) startIn(m Model, _ *Node) Hypermodel {
	if _, ok := m.Base.(UnitBase); ok && h.InitM == nil {
		m.Prior = &Prior{Base: m.Base} // makes centre draw hidden layers; mu needs no spread of a prior
		h.InitM = m.centre()
	}
	return h
}

// Init draws mu, and sets rho so that softplus(rho) is the initial deviation.
func (h MeanField) Init(s rng.Stream) []*Node {
	init := h.InitM
	if init == nil {
		init = InitNormal(0.05)
	}
	rho := math.Log(math.Expm1(cmp.Or(h.Deviation, 0.05))) // softplus(rho) is the deviation
	return []*Node{init(s.Named("mu"), 1, h.Params, h.Params), AddScalar(zeros(s, []int{h.Params}), rho)}
}

// Theta returns mu + softplus(rho) z.
func (h MeanField) Theta(nu []*Node, z index.Set) *Node {
	mu, sd := h.Gaussian(nu)
	return Add(InsertAxes(mu, 1), Mul(InsertAxes(sd, 1), z.Dense()))
}

// Gaussian returns the means and the standard deviations of the independent components of theta, each [runs, N_theta].
func (h MeanField) Gaussian(nu []*Node) (mu, sd *Node) {
	rho := nu[1]
	return nu[0], Add(MaxScalar(rho, 0.0), Log1P(Exp(Neg(Abs(rho))))) // log(1 + e^rho), without overflow
}
