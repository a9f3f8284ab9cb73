package hyper

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Belief is a distribution over functions: draw an index z from p_z, and it identifies one. An epistemic neural network
// (Osband et al. 2023) is the same thing. [Model] is the paper's; beliefs of other packages are trained and explored
// with as well, by automatic differentiation, or faster if they have [Capabilities].
//
// A belief is a value without state. What it can do is asked of the value, so it must not be a pointer.
type Belief interface {
	// Index is the reference distribution p_z.
	Index() index.Distribution
	// Init draws the parameters before any data. scale is sigma_p of each run, [runs], by which a belief multiplies the
	// functions that are its prior; nil is 1.
	Init(s rng.Stream, scale *Node) Params
	// Predict returns the predictions at inputs x by the functions that the indices z identify: [runs, indices,
	// inputs].
	Predict(p Params, z index.Set, x *Node) *Node
}

// Params are the parameters of a belief for a batch of runs: the first axis of every node is the runs.
type Params struct {
	Nu    []*Node          // trained, float32
	Nu0   []*Node          // their initial values, which the regularizer anchors to
	Fixed map[string]*Node // what Init draws beside them and nothing changes, as the prior's parameters
	Kept  map[string]*Node // what the inputs of data change without training, of any type: see Conditioned
}

// Sized is a belief that can be made for inputs of a number of features: then any world can have it.
type Sized interface {
	Belief
	ForInputs(features int) Belief
}

// Capable is a belief that can do more than predict.
type Capable interface {
	Belief
	Capabilities() Capabilities
}

// Capabilities are what a belief can do beside what every [Belief] can; nil is that it cannot. Training and sampling
// ask for them in one place, and do without. A wrapper passes on those that it keeps.
type Capabilities struct {
	Parametric  Parametric  // the trained part is a function of parameters theta
	Additive    Additive    // predictions are the sum of those of the trained part and of a fixed one
	Linear      LinearBase  // the trained part is phi(x)^T theta
	Affine      Affine      // theta is mu + C z
	Particles   Particles   // theta is row z of nu
	Variational Variational // theta is Gaussian with independent components, whatever the prior
	Marginals   Marginals   // theta is so with the prior, and is drawn without z
	Gradient    OwnGradient // knows its gradient: half the work of automatic differentiation
	Each        Each        // predicts each input by an index of its own in less work than Predict
	Conjugate   Conjugate   // nu is a Gaussian posterior, which a datum changes in closed form
	Predictive  Predictive  // values are drawn without z
	Conditioned Conditioned // a mean alone is trained, and data change the rest in closed form
}

// Parametric is a belief whose trained part is a function of parameters theta = g_nu(z). The regularizer of section 2.1
// sees how far they move; for other beliefs it sees how far nu does.
type Parametric interface {
	// NumTheta is N_theta.
	NumTheta() int
	// Trained returns g_nu(z), [runs, indices, N_theta].
	Trained(nu []*Node, z index.Set) *Node
	// Complete adds the parameters of a prior to theta = g_nu(z), where the two are parameters of one function.
	Complete(theta *Node, p Params, z index.Set) *Node
}

// Additive is a belief whose predictions are the sum of those of its trained part and of a fixed one: an additive prior
// (section 2.5).
type Additive interface {
	// FixedPart returns the fixed part of the predictions of several steps at once: z has steps * n indices for each
	// run, or every index, x the inputs of each step as if it were a run, [runs * steps, inputs, features], and so have
	// the predictions, [runs * steps, n, inputs]. No gradient flows into it.
	FixedPart(p Params, z index.Set, x *Node, steps int) *Node
}

// Affine is a belief with g_nu(z) = mu + C z: nu is (mu [runs, N_theta], C [runs, N_theta, Width]).
type Affine interface {
	// Structure is the layout of C.
	Structure() Layout
	// PriorMatrix returns the entries of D B, [runs, N_theta, Width], and their layout, where the prior adds D B z to
	// the parameters; nil where there is none.
	PriorMatrix(p Params) (*Node, Layout)
}

// Particles is a belief that has parameters of its own for each of finitely many indices: nu is one node, [runs, N_z,
// N_theta].
type Particles interface {
	// NumParticles is N_z.
	NumParticles() int
}

// Variational is a belief that knows the mean and standard deviation of the independent Gaussian components of g_nu(z),
// each [runs, N_theta].
type Variational interface {
	Gaussian(nu []*Node) (mu, sd *Node)
}

// Marginals is a belief whose theta, prior included, has independent Gaussian components.
type Marginals interface {
	// Marginal returns their mean and standard deviation, each [runs, N_theta].
	Marginal(p Params) (mu, sd *Node)
	// PredictAt returns the predictions with parameters theta, [runs, n, N_theta]: [runs, n, inputs].
	PredictAt(theta, x *Node) *Node
}

// OwnGradient is a [Parametric] belief that knows the gradient of its trained part.
type OwnGradient interface {
	// Forward returns the predictions with parameters theta, [runs, indices, inputs], and a function that returns the
	// gradient of sum(df * f) with respect to theta, [runs, indices, N_theta], for df [runs, indices, inputs].
	Forward(theta, x *Node) (f *Node, backward func(df *Node) *Node)
}

// Each is a belief that predicts each input by an index of its own.
type Each interface {
	// PredictEach returns the predictions at inputs x by the functions of as many indices, the i-th input by the i-th
	// index: [runs, inputs].
	PredictEach(nu []*Node, z index.Set, x *Node) *Node
}

// Conjugate is a belief that is the posterior of theta in phi(x)^T theta under a Gaussian prior and Gaussian noise,
// with theta in independent blocks of one size. nu is (mu [runs, N_theta], S [runs, blocks, size, size]). A block may
// have two parts, each a model of its own of all responses: nu then has the S of both, and at last the probability of
// the second model, [runs]. See [BayesianLinear].
type Conjugate interface {
	// NumTheta is N_theta.
	NumTheta() int
	// Parts are the sizes of a block's parts, one or two.
	Parts() []int
	// Phi returns phi(x) within the block of each input, [runs, inputs, sizes of all parts], and the blocks, int32
	// [runs, inputs].
	Phi(p Params, x *Node) (phi, block *Node)
}

// Conditioned is a belief whose mean alone is trained, by a loss that sees no index; what is about the mean follows from
// the inputs of the data in closed form. See [NetworkGP].
type Conditioned interface {
	// Mean is the belief that is trained: its parameters are nu.
	Mean() Belief
	// Keep returns Params.Kept with a datum of each run more: its input x [runs, 1, features], and its precision [runs],
	// the curvature of the loss over sigma_w^2 times the datum's weight. It may read p.Fixed and p.Kept.
	Keep(p Params, x, precision *Node) map[string]*Node
	// NumKept is the number of numbers in Params.Kept.
	NumKept() int
}

// Predictive is a belief that draws the values of functions at inputs without drawing the functions.
type Predictive interface {
	// Draw returns the values of n functions at inputs x, [runs, n, inputs].
	Draw(p Params, s rng.Stream, n int, x *Node) *Node
}

// CapabilitiesOf returns what a belief can do; all nil for one that is not [Capable].
func CapabilitiesOf(b Belief) Capabilities {
	if c, ok := b.(Capable); ok {
		return c.Capabilities()
	}
	return Capabilities{}
}

// Sample draws n functions of a belief for each run and returns their predictions at x: [runs, n, inputs]. It is
// Predict at fresh indices; where the distribution of theta or of the values is known without z, they are drawn
// directly.
func Sample(b Belief, p Params, s rng.Stream, n int, x *Node) *Node {
	c := CapabilitiesOf(b)
	if c.Predictive != nil {
		return c.Predictive.Draw(p, s, n, x)
	}
	if m := c.Marginals; m != nil {
		mu, sd := m.Marginal(p)
		theta := Add(InsertAxes(mu, 1), Mul(InsertAxes(sd, 1), s.Normal(n, mu.Shape().Dim(1))))
		return m.PredictAt(theta, x)
	}
	return b.Predict(p, b.Index().Sample(s, n), x)
}
