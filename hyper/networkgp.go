package hyper

import (
	"errors"
	"maps"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/root"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// NetworkGP is a network plus a Gaussian process that describes the deviations from the network, for z ~ N(0, I):
//
//	f(x, z) = m(x) + sigma phi(x)^T S z,   S S^T = (I + sigma^2 sum_t w_t phi(x_t) phi(x_t)^T)^-1
//
// m is a ReLU network; only m is trained. phi are the random cosines of [BayesianLinear]. S is the root of the
// covariance of a Gaussian posterior: before any data the deviations are the prior's, sigma phi(x)^T z, and they shrink
// where inputs x_t were seen. w_t is the precision of datum t: the curvature of the loss over sigma_w^2, see
// [Conditioned].
//
// NetworkGP is an additive prior (section 2.5) in closed form. The prior function sigma phi(x)^T z is drawn with z. A
// hypermodel would have to learn how to cancel it for each index. Here the part to cancel is known, and only the mean
// needs training. A datum costs one gradient of one network, and n^2 operations for S, where n is the number of
// features phi.
//
// nu is the parameters of m, [runs, 1, N_theta]. Kept holds the root S, float64 [runs, n, n].
type NetworkGP struct {
	Features   int     // number of features of an input
	Hidden     []int   `help:"hidden widths of the network"`
	Waves      int     `help:"random cosines that the deviations are made of"`
	Length     float64 `help:"length scale of the cosines, times the root of the number of features"`
	PriorScale float64 `help:"standard deviation of the Gaussian process before data, divided by sigma_p"`
	// Truncated draws the network as the Neural Testbed does, with InitTruncatedLayers.
	Truncated bool `help:"yes: the network starts with truncated normal weights, as the testbed's; no: Glorot uniform"`
}

var (
	_ Sized       = NetworkGP{}
	_ Capable     = NetworkGP{}
	_ Conditioned = NetworkGP{}
)

// NewNetworkGP returns a NetworkGP with the network of the Neural Testbed, and 100 cosines of length scale 1.
func NewNetworkGP(features int) NetworkGP {
	return NetworkGP{Features: features, Hidden: []int{50, 50}, Waves: 100, Length: 1, PriorScale: 1}
}

// ForInputs returns the belief for inputs of the given number of features.
func (b NetworkGP) ForInputs(features int) Belief {
	b.Features = features
	return b
}

// Validate reports every invalid field.
func (b NetworkGP) Validate() error {
	errs := []error{faults.AtLeast("Features", b.Features, 1), faults.AtLeast("Waves", b.Waves, 1),
		faults.Positive("Length", b.Length), faults.NotNegative("PriorScale", b.PriorScale)}
	if errors.Join(errs...) == nil {
		errs = append(errs, b.process().Validate(), b.network().Validate())
	}
	return faults.Prefix("hyper.NetworkGP: ", errors.Join(errs...))
}

func (b NetworkGP) network() base.MLP { return layers(b.Features, b.Hidden, 1) }

// process returns the prior of the deviations.
func (b NetworkGP) process() BayesianLinear {
	return BayesianLinear{Features: b.Features, Waves: b.Waves, Length: b.Length}
}

func (b NetworkGP) Index() index.Distribution { return b.process().Index() }
func (b NetworkGP) Inputs() int               { return b.Features }

// NumInvolved returns the number of trained parameters: the parameters of the network.
func (b NetworkGP) NumInvolved() int { return NumTheta(b.network()) }

// NumKept returns the number of entries of the root.
func (b NetworkGP) NumKept() int { n := b.process().NumTheta(); return n * n }

// Mean returns the network, as an ensemble of one particle.
func (b NetworkGP) Mean() Belief {
	net := b.network()
	init := InitLayers(net)
	if b.Truncated {
		init = InitTruncatedLayers(net, 0)
	}
	return Model{Base: net, Hyper: Ensemble{Particles: 1, Params: NumTheta(net), InitNu: init}}
}

// Init draws the network and the cosines. scale multiplies the deviations; nil means 1.
func (b NetworkGP) Init(s rng.Stream, scale *Node) Params {
	p, prior := b.Mean().Init(s, nil), b.process().Init(s.Named("deviations"), scale)
	p.Fixed = maps.Clone(prior.Fixed)
	p.Fixed["scale"] = MulScalar(p.Fixed["scale"], b.PriorScale/b.unit())
	p.Kept = map[string]*Node{"root": ConvertDType(Squeeze(prior.Nu[1], 1), dtypes.Float64)}
	return p
}

// unit returns the standard deviation of phi(x)^T z over standardised inputs.
func (b NetworkGP) unit() float64 { return 1 / math.Sqrt(b.process().UnitVariance()) }

// Keep returns the root after one more datum; see [Conditioned].
func (b NetworkGP) Keep(p Params, x, precision *Node) map[string]*Node {
	phi, _ := b.process().Phi(p, x)
	wide := func(x *Node) *Node { return ConvertDType(x, dtypes.Float64) }
	rho := Mul(wide(precision), Square(wide(p.Fixed["scale"])))
	s, _ := root.Update(p.Kept["root"], wide(Squeeze(phi, 1)), InsertAxes(rho, -1), root.Whole{})
	return map[string]*Node{"root": s}
}

// Predict returns f(x, z), [runs, indices, inputs].
func (b NetworkGP) Predict(p Params, z index.Set, x *Node) *Node {
	phi, _ := b.process().Phi(p, x)
	mean := b.network().Apply(p.Nu[0], x) // [runs, 1, inputs]
	theta := Einsum("rpq,rnq->rnp", narrow(p.Kept["root"]), z.Dense())
	theta = Mul(theta, InsertAxes(p.Fixed["scale"], -1, -1))
	return Add(mean, Einsum("rip,rnp->rni", phi, theta))
}

// Capabilities returns the one capability Conditioned.
func (b NetworkGP) Capabilities() Capabilities { return Capabilities{Conditioned: b} }
