package hyper

import (
	"errors"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// LastLayer is a linear hypermodel of the last layer of a network, for z ~ N(0, I). The layers before the last do not
// depend on the index; they are trained as the network's features h(x):
//
//	f(x, z) = (mu + (C + D B) z)^T [h(x), 1]
//
// LastLayer is the [Linear] hypermodel of the whole network with rows of C that are 0 except for the last layer, and
// with a prior in the parameters (section 2.5, without a base model for the prior). The features are computed once for
// all indices, so that many indices cost little more than one. HyperAgent (Li et al. 2024) is this hypermodel with a
// separate last layer for each action. nu is the network with mu as its last layer, [runs, N_theta], and C,
// [runs, last width + 1, Dim]. Units are ReLU.
type LastLayer struct {
	Features   int     // number of features of an input
	Hidden     []int   `help:"hidden widths of the network"`
	Dim        int     `help:"dimension of the index, which the last layer sees"`
	PriorScale float64 `help:"standard deviation of predictions before data, divided by sigma_p"`
}

var _ Sized = LastLayer{}

// NewLastLayer returns a LastLayer with two hidden layers of 50 units, an index of 10 numbers, and a prior of scale 1.
func NewLastLayer(features int) LastLayer {
	return LastLayer{Features: features, Hidden: []int{50, 50}, Dim: 10, PriorScale: 1}
}

// ForInputs returns the belief for inputs of the given number of features.
func (b LastLayer) ForInputs(features int) Belief {
	b.Features = features
	return b
}

// Validate reports every invalid field.
func (b LastLayer) Validate() error {
	errs := []error{faults.AtLeast("Features", b.Features, 1), faults.AtLeast("Dim", b.Dim, 1),
		faults.NotNegative("PriorScale", b.PriorScale)}
	if len(b.Hidden) == 0 {
		errs = append(errs, faults.New("Hidden", "needs a layer, whose units the last layer sees"))
	}
	return faults.Prefix("hyper.LastLayer: ", errors.Join(append(errs, b.network().Validate())...))
}

func (b LastLayer) network() base.MLP { return layers(b.Features, b.Hidden, 1) }

func (b LastLayer) Index() index.Distribution { return index.Gaussian{N: b.Dim} }
func (b LastLayer) Inputs() int               { return b.Features }
func (b LastLayer) NumInvolved() int          { return NumTheta(b.network()) + b.rows()*b.Dim }

// rows returns the number of parameters of the last layer.
func (b LastLayer) rows() int { return b.Hidden[len(b.Hidden)-1] + 1 }

// Init draws the hidden layers, scaled by fan-in, and D B, with rows of B uniform on the unit sphere. mu and C are 0:
// before any data predictions are the prior's, and have standard deviation PriorScale times scale over standardised
// inputs. A nil scale means 1.
func (b LastLayer) Init(s rng.Stream, scale *Node) Params {
	d := b.network().Deviations(0)
	last := d[b.network().Output():] // all equal
	prior := MulScalar(s.Named("prior").Sphere(b.rows(), b.Dim), last[0]*b.PriorScale)
	if scale != nil {
		prior = Mul(prior, InsertAxes(scale, -1, -1))
	}
	clear(last)
	nu := []*Node{initDeviations(d, 0, nil)(s.Named("network"), 0, 0, len(d)), zeros(s, []int{b.rows(), b.Dim})}
	return Params{Nu: nu, Fixed: map[string]*Node{"prior": prior}}
}

// Predict returns f(x, z), [runs, indices, inputs].
func (b LastLayer) Predict(p Params, z index.Set, x *Node) *Node {
	units, mu := lastUnits(b.network(), InsertAxes(p.Nu[0], 1), x)
	c := Add(p.Nu[1], StopGradient(p.Fixed["prior"]))
	theta := Add(mu, Einsum("rnz,rpz->rnp", z.Dense(), c)) // [runs, indices, rows]
	ones := Ones(x.Graph(), shapes.Make(units.DType(), units.Shape().Dim(0), 1, units.Shape().Dim(2)))
	return Einsum("rnp,rpb->rnb", theta, Concatenate([]*Node{units, ones}, 1))
}

// lastUnits returns the last hidden layer of a ReLU network, [runs, width, inputs], and the parameters of the network's
// output layer, [runs, 1, ...]. theta is [runs, 1, parameters].
func lastUnits(net base.MLP, theta, x *Node) (units, output *Node) {
	body := base.MLP{Layers: net.Layers[:len(net.Layers)-1]}
	n := NumTheta(body)
	part := func(from SliceAxisSpec) *Node { return Slice(theta, AxisRange(), AxisRange(), from) }
	return MaxScalar(Squeeze(body.Outputs(part(AxisRange(0, n)), x), 1), 0.0), part(AxisRange(n))
}
