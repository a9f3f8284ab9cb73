package hyper

import (
	"errors"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Epinet is a network together with an epinet (Osband et al., "Epistemic Neural Networks", 2023), for z ~ N(0, I):
//
//	f(x, z) = mu(x) + g([z, phi(x)])^T z + PriorScale sum_i z_i p_i(x) + MatchedScale g0([z, phi(x)])^T z
//
// mu is a network. phi(x) is x together with mu's last hidden layer; no gradient of the epinet flows into this layer. g
// is a small network with one output for each number of the index. p_i are fixed networks. g0 is a fixed network of the
// shape of g, drawn once. nu is the parameters of mu, and the parameters of g. All networks have ReLU units.
type Epinet struct {
	Features    int     // number of features of an input
	Hidden      []int   `help:"hidden widths of the network"`
	Epi         []int   `help:"hidden widths of the epinet"`
	Dim         int     `help:"dimension of the index"`
	PriorHidden []int   `help:"hidden widths of each of the prior's networks"`
	PriorScale  float64 `help:"scale of the prior's networks"`
	// MatchedScale 0, as in the testbed, leaves out g0.
	MatchedScale float64 `help:"scale of a fixed epinet beside the trained one; 0 is none"`
	// Truncated draws all networks as the testbed does, with InitTruncatedLayers and biases of 0.
	Truncated bool `help:"yes: networks start with truncated normal weights, as the testbed's; no: Glorot uniform"`
}

var _ Sized = Epinet{}

// NewEpinet returns an epinet with the sizes of the Neural Testbed (Osband et al. 2022), and a prior of scale 1.
func NewEpinet(features int) Epinet {
	return Epinet{Features: features, Hidden: []int{50, 50}, Epi: []int{15, 15}, Dim: 8, PriorHidden: []int{5, 5},
		PriorScale: 1}
}

// ForInputs returns the epinet for inputs of the given number of features.
func (b Epinet) ForInputs(features int) Belief {
	b.Features = features
	return b
}

// Validate reports every invalid field.
func (b Epinet) Validate() error {
	errs := []error{faults.AtLeast("Features", b.Features, 1), faults.AtLeast("Dim", b.Dim, 1),
		faults.NotNegative("PriorScale", b.PriorScale), faults.NotNegative("MatchedScale", b.MatchedScale)}
	if len(b.Hidden) == 0 {
		errs = append(errs, faults.New("Hidden", "needs a layer, whose units the epinet sees"))
	}
	for _, net := range []base.MLP{b.mean(), b.epinet(), b.prior()} {
		errs = append(errs, net.Validate())
	}
	return faults.Prefix("hyper.Epinet: ", errors.Join(errs...))
}

func layers(in int, hidden []int, out int) base.MLP {
	return base.MLP{Layers: slices.Concat([]int{in}, hidden, []int{out})}
}

func (b Epinet) mean() base.MLP  { return layers(b.Features, b.Hidden, 1) }
func (b Epinet) prior() base.MLP { return layers(b.Features, b.PriorHidden, 1) }

func (b Epinet) head() EpinetHead {
	last := 0
	if len(b.Hidden) > 0 {
		last = b.Hidden[len(b.Hidden)-1]
	}
	return EpinetHead{Inputs: b.Features + last, Hidden: b.Epi, Dim: b.Dim, Outputs: 1}
}

func (b Epinet) epinet() base.MLP { return b.head().Net() }

func (b Epinet) Index() index.Distribution { return index.Gaussian{N: b.Dim} }
func (b Epinet) Inputs() int               { return b.Features }
func (b Epinet) NumInvolved() int          { return NumTheta(b.mean()) + NumTheta(b.epinet()) }

// Init draws the networks. scale multiplies the predictions of the fixed networks, in each run; nil means 1.
func (b Epinet) Init(s rng.Stream, scale *Node) Params {
	scale = orOnes(s, scale)
	nu := []*Node{b.draw(s.Named("mean"), b.mean()), b.draw(s.Named("epinet"), b.epinet())}
	fixed := map[string]*Node{"prior": b.draw(s.Named("prior"), b.prior(), b.Dim), "scale": scale}
	if b.MatchedScale > 0 {
		fixed["matched"] = b.draw(s.Named("matched"), b.epinet())
	}
	return Params{Nu: nu, Fixed: fixed}
}

// draw draws the parameters of networks, [runs, dims..., parameters].
func (b Epinet) draw(s rng.Stream, net base.MLP, dims ...int) *Node {
	init := InitLayers(net)
	if b.Truncated {
		init = InitTruncatedLayers(net, 0)
	}
	return init(s, 0, 0, append(dims, NumTheta(net))...)
}

// Predict returns f(x, z), [runs, indices, inputs].
func (b Epinet) Predict(p Params, z index.Set, x *Node) *Node {
	mean, phi := b.meanAt(InsertAxes(p.Nu[0], 1), x)
	vectors := z.Dense() // [runs, indices, Dim]
	phi = StopGradient(phi)
	learned := b.along(p.Nu[1], vectors, phi)

	fixed := MulScalar(Einsum("rdb,rnd->rnb", b.prior().Apply(p.Fixed["prior"], x), vectors), b.PriorScale)
	if matched := p.Fixed["matched"]; matched != nil {
		fixed = Add(fixed, MulScalar(b.along(matched, vectors, phi), b.MatchedScale))
	}
	fixed = StopGradient(Mul(fixed, InsertAxes(p.Fixed["scale"], -1, -1)))
	return Add(Add(mean, learned), fixed)
}

// along returns g([z, phi(x)])^T z, [runs, indices, inputs]; see [EpinetHead.Apply].
func (b Epinet) along(theta, z, phi *Node) *Node { return Squeeze(b.head().Apply(theta, z, phi), 2) }

// meanAt returns mu(x), [runs, 1, inputs], and phi(x), [runs, inputs, features], for theta [runs, 1, parameters].
func (b Epinet) meanAt(theta, x *Node) (mean, phi *Node) {
	units, output := lastUnits(b.mean(), theta, x)
	width := b.Hidden[len(b.Hidden)-1]
	part := func(from, to int) *Node { return Slice(output, AxisRange(), AxisRange(), AxisRange(from, to)) }
	mean = Add(Einsum("rnw,rwb->rnb", part(0, width), units), part(width, width+1))
	return mean, Concatenate([]*Node{x, Transpose(units, 1, 2)}, 2)
}
