package layers

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/support/exceptions"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
)

// Config describes a layer whose parameters depend on the index: theta = g_nu(z) for one affine map ([Dense]) or for a
// network of them ([FNN]). Use at most one of Diagonal, Hypernetwork and LowRank. Call Done to make it.
type Config struct {
	scope   *model.Scope
	z       Indices
	x       *Node
	net     base.MLP
	hidden  []int // widths of a hypernetwork
	rank    int
	diag    bool
	network bool
	lowRank bool
	prior   float64
	spread  float64
}

// Dense is a dense layer with weights and biases theta = g_nu(z). x is [batch..., features], and Done returns
// [indices, batch..., outputs].
//
// By default g_nu is the linear hypermodel mu + C z (section 2.3), or an ensemble if the indices are one-hot (section
// 2.2). Without a Prior, C z starts with the deviations that a prior of scale 1 would have. Use Dense as the last
// layer of a network to make its outputs depend on the index.
func Dense(scope *model.Scope, z Indices, x *Node, outputs int) *Config {
	return &Config{scope: scope, z: z, x: x, net: base.MLP{Layers: []int{x.Shape().Dim(-1), outputs}}, spread: 1}
}

// FNN is a network with hidden layers whose weights and biases, of all layers, are theta = g_nu(z). Otherwise it is as
// [Dense].
func FNN(scope *model.Scope, z Indices, x *Node, outputs int, hidden ...int) *Config {
	c := Dense(scope, z, x, outputs)
	c.net.Layers = slices.Concat([]int{x.Shape().Dim(-1)}, hidden, []int{outputs})
	return c
}

// Activation sets the nonlinearity between the layers of the network; the default is ReLU.
func (c *Config) Activation(a base.Activation) *Config {
	c.net.Activation = a
	return c
}

// Prior adds a fixed random function that is never trained (section 2.5): a layer or network of the same shape, with
// parameters D B z. No gradient flows through it. scale is the standard deviation of an output before any data, for
// inputs with variance 1. For classes, a scale of 3 means that the odds of two classes may be 50 to 1 or 1 to 50 before
// any data. Take the scale with the best joint likelihood on data held out.
//
// The layer's fixed variables contain the scale. In a store that has them already, such as that of a checkpoint,
// another positive scale has no effect. The function [Prior] applies its scale in each graph.
//
// With a Prior, mu or the particles start with Glorot uniform weights and biases of 0, and C starts at 0. (With a
// Hypernetwork or LowRank, the trained function starts at 0.)
func (c *Config) Prior(scale float64) *Config {
	c.prior = scale
	return c
}

// Spread sets, without a Prior, the standard deviation of outputs at the start; the default is 1. It has no effect in a
// store that has the layer's variables already, such as that of a checkpoint.
func (c *Config) Spread(deviation float64) *Config {
	c.spread = deviation
	return c
}

// Diagonal gives each parameter its own number of the index, theta_i = mu_i + c_i z_i. The index must have as many
// numbers as the layer has parameters.
func (c *Config) Diagonal() *Config {
	c.diag = true
	return c
}

// Hypernetwork makes g_nu a network of the index with the given hidden widths (section 2.4).
func (c *Config) Hypernetwork(hidden ...int) *Config {
	c.network, c.hidden = true, hidden
	return c
}

// LowRank makes C a product of two matrices, of the given rank.
func (c *Config) LowRank(rank int) *Config {
	c.lowRank, c.rank = true, rank
	return c
}

// Done adds the layer to the graph and returns its outputs, [indices, batch..., outputs].
func (c *Config) Done() *Node {
	inputs, back := flat(c.scope, c.x)
	m := hyper.Model{Base: outputs{c.net}, Hyper: c.hypermodel()}
	scale := c.spread
	checkScale(c.scope, c.prior)
	switch {
	case !(c.spread >= 0):
		exceptions.Panicf("the spread in scope %q must not be negative, got %g", c.scope.Scope(), c.spread)
	case c.diag && c.network:
		exceptions.Panicf("the layer in scope %q cannot be Diagonal and a Hypernetwork", c.scope.Scope())
	case c.lowRank && (c.diag || c.network):
		exceptions.Panicf("the layer in scope %q cannot be LowRank and also Diagonal or a Hypernetwork; call one of these",
			c.scope.Scope())
	case c.prior > 0:
		scale = c.prior
		layout := hyper.Dense(hyper.NumTheta(m.Base), c.z.Distribution.Dim())
		if c.diag {
			layout = hyper.PerParameter(hyper.NumTheta(m.Base), 1)
		}
		m.Prior = &hyper.Prior{Base: m.Base, Layout: layout}
	}
	if err := m.Validate(); err != nil {
		exceptions.Panicf("the layer in scope %q: %v", c.scope.Scope(), err)
	}
	l := newLayer(c.scope, c.x.Graph(), c.z, m, scale)
	f := l.predict(inputs) // [indices, inputs * outputs]
	return back(Reshape(f, f.Shape().Dim(0), -1, c.net.NumOutputs()))
}

func (c *Config) hypermodel() hyper.Hypermodel {
	d, n := c.z.of(c.scope), hyper.NumTheta(c.net)
	particles, one := d.(index.OneHot)
	var start hyper.Initializer // of mu, or of particles; nil is the default of hyper.Model.Init
	if c.prior > 0 {
		start = hyper.InitLayers(c.net)
	}
	switch {
	case c.network:
		return hyper.Network{P: d, Hidden: c.hidden, Params: n, Activation: base.ActivationReLU}
	case c.lowRank:
		return hyper.Network{P: d, Hidden: []int{c.rank}, Params: n, Activation: base.ActivationIdentity}
	case c.diag && d.Dim() != n:
		exceptions.Panicf("the layer in scope %q has %d parameters, so that Diagonal needs an index of %d numbers, got %d",
			c.scope.Scope(), n, n, d.Dim())
	case c.diag:
		return hyper.Linear{Layout: hyper.PerParameter(n, 1), P: d, InitM: start}
	case one:
		return hyper.Ensemble{Particles: particles.N, Params: n, InitNu: start}
	}
	return hyper.Linear{Layout: hyper.Dense(n, d.Dim()), P: d, InitM: start}
}

// outputs is a network with several outputs as a base model: the outputs of an input are successive predictions.
type outputs struct{ net base.MLP }

func (b outputs) Validate() error                 { return b.net.Validate() }
func (b outputs) Inputs() int                     { return b.net.Inputs() }
func (b outputs) Groups() []int                   { return b.net.Groups() }
func (b outputs) Deviations(shared int) []float64 { return b.net.Deviations(shared) }
func (b outputs) Output() int                     { return b.net.Output() }
func (b outputs) Apply(theta, x *Node) *Node {
	f := b.net.OutputsFastGradient(theta, x) // [runs, indices, outputs, inputs]
	return Reshape(Transpose(f, 2, 3), f.Shape().Dim(0), f.Shape().Dim(1), -1)
}
