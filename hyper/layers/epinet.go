package layers

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/support/exceptions"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// EpinetConfig describes an epinet on given features. Call Done to make it.
type EpinetConfig struct {
	scope    *model.Scope
	z        Indices
	features *Node
	belief   epinet
	prior    float64
}

// Epinet is an epinet (Osband et al., "Epistemic Neural Networks", 2023) on features [batch..., n] of any network, such
// as its last hidden units: g([z, phi])^T z for a trained network g and, with a Prior, for a fixed one. No gradient
// flows into the features. Add the result, [indices, batch..., outputs], to the outputs of the network. The
// index must be index.Gaussian.
func Epinet(scope *model.Scope, z Indices, features *Node, outputs int) *EpinetConfig {
	return &EpinetConfig{scope: scope, z: z, features: features, prior: 1,
		belief: epinet{hyper.EpinetHead{Inputs: features.Shape().Dim(-1), Hidden: []int{15, 15}, Outputs: outputs}}}
}

// Hidden sets the hidden widths of both networks; the default is 15, 15.
func (c *EpinetConfig) Hidden(widths ...int) *EpinetConfig {
	c.belief.head.Hidden = widths
	return c
}

// Prior sets the factor of the fixed network; the default is 1, and 0 is no prior. Without a prior, nothing makes the
// outputs differ between indices far from the data; a [Prior] of the inputs may be added in its place. The factor is
// one of the epinet's fixed variables: in a store that has them already, such as that of a checkpoint, another factor
// has no effect.
func (c *EpinetConfig) Prior(scale float64) *EpinetConfig {
	c.prior = scale
	return c
}

// Done adds the epinet to the graph and returns its outputs, [indices, batch..., outputs].
func (c *EpinetConfig) Done() *Node {
	d, ok := c.z.of(c.scope).(index.Gaussian)
	if !ok {
		exceptions.Panicf("the epinet in scope %q needs indices of index.Gaussian, got %T", c.scope.Scope(), c.z.Distribution)
	}
	checkScale(c.scope, c.prior)
	c.belief.head.Dim = d.N
	if err := c.belief.head.Net().Validate(); err != nil {
		exceptions.Panicf("the epinet in scope %q: %v", c.scope.Scope(), err)
	}
	features, back := flat(c.scope, c.features)
	f := newLayer(c.scope, c.features.Graph(), c.z, c.belief, c.prior).predict(StopGradient(features))
	return back(Reshape(f, f.Shape().Dim(0), -1, c.belief.head.Outputs))
}

// epinet is the belief of an epinet alone: nu is the parameters of the trained network. Predictions at an input are its
// outputs, one after the other.
type epinet struct{ head hyper.EpinetHead }

func (b epinet) Index() index.Distribution { return index.Gaussian{N: b.head.Dim} }

// Init draws both networks, with the same distribution; scale multiplies the fixed one.
func (b epinet) Init(s rng.Stream, scale *Node) hyper.Params {
	net := b.head.Net()
	draw := func(name string) *Node { return hyper.InitLayers(net)(s.Named(name), 0, 0, hyper.NumTheta(net)) }
	nu := []*Node{draw("epinet")}
	return hyper.Params{Nu: nu, Fixed: map[string]*Node{"matched": draw("matched"), "scale": scale}}
}

func (b epinet) Predict(p hyper.Params, z index.Set, x *Node) *Node {
	fixed := StopGradient(Mul(b.head.Apply(p.Fixed["matched"], z.Dense(), x), InsertAxes(p.Fixed["scale"], -1, -1, -1)))
	f := Add(b.head.Apply(p.Nu[0], z.Dense(), x), fixed) // [runs, indices, outputs, inputs]
	return Reshape(Transpose(f, 2, 3), f.Shape().Dim(0), f.Shape().Dim(1), -1)
}
