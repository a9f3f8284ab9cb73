package hyper

import (
	"errors"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// SharedEnsemble is the neural Ensemble++ (Li et al. 2024): linear members on the features of one network. The members
// do not train the features:
//
//	f(x, zeta) = b^T h(x) + sum_m zeta_m (Scale theta_m + PriorScale theta0_m)^T sg[h(x)]
//
// h is the last hidden layer of a ReLU network. sg[h] is h, but no gradient flows into it. theta0 is fixed; the M
// numbers of a unit in theta0 form a vector of norm 1. zeta is uniform on the sphere of radius sqrt(M), or N(0, I). nu
// is the network without an output bias, [runs, N_theta - 1], which ends with b, and theta, [runs, width, M].
//
// The paper of Ensemble++ trains by the mean loss over zeta = +-sqrt(M) e_m: this is train.Axes. It adds beta zeta^T a
// to responses, where the vector a is uniform on the unit sphere: this is Perturbation = beta of a learner with
// sigma_w = 1. For a quadratic loss the cross terms cancel: the network sees the mean loss, and member m with its prior
// is fitted to beta a_m. The paper regularizes by (lambda/2|D|) ||theta||^2, with squared errors without the factor
// 1/2: this is train.Decay with sigma_p^2 = 2/lambda.
type SharedEnsemble struct {
	Features   int     // number of features of an input
	Hidden     []int   `help:"hidden widths of the network"`
	Members    int     `help:"M: linear members on the network's features, and dimension of the index"`
	Scale      float64 `help:"s: scale of the trained members"`
	PriorScale float64 `help:"s0: scale of the fixed members beside them"`
	Gaussian   bool    `help:"yes: indices are N(0, I); no: uniform on the sphere of radius sqrt(M)"`
}

var _ Sized = SharedEnsemble{}

// NewSharedEnsemble returns a SharedEnsemble with the sizes of its paper, and scales of 1.
func NewSharedEnsemble(features int) SharedEnsemble {
	return SharedEnsemble{Features: features, Hidden: []int{64, 64}, Members: 8, Scale: 1, PriorScale: 1}
}

// ForInputs returns the belief for inputs of the given number of features.
func (b SharedEnsemble) ForInputs(features int) Belief {
	b.Features = features
	return b
}

// Validate reports every invalid field.
func (b SharedEnsemble) Validate() error {
	errs := []error{faults.AtLeast("Features", b.Features, 1), faults.AtLeast("Members", b.Members, 1),
		faults.NotNegative("Scale", b.Scale), faults.NotNegative("PriorScale", b.PriorScale)}
	if len(b.Hidden) == 0 {
		errs = append(errs, faults.New("Hidden", "needs a layer, whose units the members see"))
	}
	return faults.Prefix("hyper.SharedEnsemble: ", errors.Join(append(errs, b.network().Validate())...))
}

func (b SharedEnsemble) network() base.MLP { return layers(b.Features, b.Hidden, 1) }

// Index returns the distribution of zeta. The perturbations are uniform on the unit sphere.
func (b SharedEnsemble) Index() index.Distribution {
	if b.Gaussian {
		return index.Gaussian{N: b.Members}
	}
	return index.Paired{N: b.Members, Reference: index.LawSphere, Noise: index.LawSphere}
}

func (b SharedEnsemble) Inputs() int      { return b.Features }
func (b SharedEnsemble) NumInvolved() int { return NumTheta(b.network()) - 1 + b.width()*b.Members }

func (b SharedEnsemble) width() int { return b.Hidden[len(b.Hidden)-1] }

// Init draws the network (Glorot uniform), theta (Glorot normal) and theta0. scale multiplies theta0; nil means 1.
func (b SharedEnsemble) Init(s rng.Stream, scale *Node) Params {
	scale = orOnes(s, scale)
	n, width := NumTheta(b.network()), b.width()
	net := InitLayers(b.network())(s.Named("network"), 0, 0, n)
	sd := math.Sqrt(2 / float64(width+b.Members))
	nu := []*Node{Slice(net, AxisRange(), AxisRange(0, n-1)), MulScalar(s.Named("members").Normal(width, b.Members), sd)}
	prior := Mul(s.Named("prior").Sphere(width, b.Members), InsertAxes(scale, -1, -1))
	return Params{Nu: nu, Fixed: map[string]*Node{"prior": prior}}
}

// Predict returns f(x, zeta), [runs, indices, inputs].
func (b SharedEnsemble) Predict(p Params, z index.Set, x *Node) *Node {
	units, output := lastUnits(b.network(), InsertAxes(p.Nu[0], 1), x)
	members := Add(MulScalar(p.Nu[1], b.Scale), StopGradient(MulScalar(p.Fixed["prior"], b.PriorScale)))
	theta := Einsum("rnm,rwm->rnw", z.Dense(), members) // [runs, indices, width]
	return Add(Einsum("rnw,rwb->rnb", output, units), Einsum("rnw,rwb->rnb", theta, StopGradient(units)))
}
