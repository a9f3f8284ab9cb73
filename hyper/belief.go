package hyper

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Belief is a distribution over functions. An index z drawn from the reference distribution p_z identifies one
// function. An epistemic neural network (Osband et al. 2023) is the same concept. [Model] is the belief of the paper.
// Beliefs of other packages can be trained and explored with too: by automatic differentiation, or faster if they have
// [Capabilities].
//
// A belief is a value without state. It must not be a pointer, because callers inspect the value to find out what the
// belief can do.
type Belief interface {
	// Index returns the reference distribution p_z.
	Index() index.Distribution
	// Init draws the parameters before any data. scale is sigma_p of each run, [runs]; nil means 1. A belief multiplies
	// the functions of its prior by scale.
	Init(s rng.Stream, scale *Node) Params
	// Predict returns the predictions at inputs x of the functions that the indices z identify,
	// [runs, indices, inputs].
	Predict(p Params, z index.Set, x *Node) *Node
}

// Params are the parameters of a belief for a batch of runs. The first axis of every node is the axis of the runs.
type Params struct {
	Nu    []*Node          // trained, float32
	Nu0   []*Node          // values of Nu before training, to which a regularizer pulls Nu; Init leaves them out
	Fixed map[string]*Node // what Init draws besides Nu and nothing changes, such as a prior's parameters
	Kept  map[string]*Node // what the inputs of data change without training, of any type; see Conditioned
}

// Sized is a belief that can be made for inputs of any number of features, and therefore for any world. In a world of
// arms it gets each arm as a one-hot vector, of Inputs numbers.
type Sized interface {
	Belief
	FixedInputs
	// ForInputs returns the belief for inputs of the given number of features, which its Inputs returns. The result has
	// the same type.
	ForInputs(features int) Belief
}

// Counted is a belief that knows the number of parameters that one sampled index involves: n_params in the paper's
// measure of computation (section 4.1), which is one particle for an ensemble. For other beliefs the measure counts all
// trained parameters.
type Counted interface {
	NumInvolved() int
}

// Capable is a belief that can do more than predict. A type that embeds a belief also has its Capabilities: if the type
// changes Predict, it must have Capabilities of its own, for example none, because the capabilities of the embedded
// belief would train and sample another function.
type Capable interface {
	Belief
	Capabilities() Capabilities
}

// Capabilities lists what a belief can do in addition to the methods of [Belief]. A nil field means that the belief
// cannot do it. Training and sampling look up the capabilities in one place, and work without them. A wrapper passes on
// the capabilities that it keeps.
type Capabilities struct {
	Parametric  Parametric  // the trained part is a function of parameters theta
	Additive    Additive    // predictions are the sum of a trained part and a fixed part
	Linear      LinearBase  // the trained part is phi(x)^T theta
	Affine      Affine      // theta is mu + C z
	Particles   Particles   // theta is row z of nu
	Variational Variational // theta without the prior is Gaussian with independent components
	Marginals   Marginals   // theta with the prior is Gaussian with independent components, drawn without z
	Gradient    OwnGradient // computes its own gradient, in half the work of automatic differentiation
	Each        Each        // predicts each input with its own index, in less work than Predict
	Conjugate   Conjugate   // nu is a Gaussian posterior that each datum updates in closed form
	Predictive  Predictive  // draws values without z
	Conditioned Conditioned // only a mean is trained; data change the rest in closed form
}

// Parametric is a belief whose trained part is a function of parameters theta = g_nu(z). The regularizer of section 2.1
// penalizes the change of theta; for other beliefs it penalizes the change of nu.
type Parametric interface {
	// NumTheta returns N_theta, the length of theta.
	NumTheta() int
	// Trained returns g_nu(z), [runs, indices, N_theta].
	Trained(nu []*Node, z index.Set) *Node
	// Complete adds the parameters of a prior to theta = g_nu(z), if both are parameters of the same function.
	// Otherwise it returns theta.
	Complete(theta *Node, p Params, z index.Set) *Node
}

// Additive is a belief whose predictions are the sum of a trained part and a fixed part: an additive prior
// (section 2.5).
type Additive interface {
	// FixedPart returns the fixed part of the predictions of several steps at once, [runs * steps, n, inputs]. z has
	// steps * n indices for each run, or every index. x is [runs * steps, inputs, features]: the inputs of each step,
	// as if a step were a run. No gradient flows into the fixed part.
	FixedPart(p Params, z index.Set, x *Node, steps int) *Node
}

// Affine is a belief with g_nu(z) = mu + C z: nu is (mu [runs, N_theta], C [runs, N_theta, Width]).
//
// Training then knows the expectation over z. With a [LinearBase], a quadratic loss and indices of mean 0 it can follow
// the expected gradient without sampled indices (train.Analytic, train.FullData), or keep the minimiser itself
// (train.Exact). For such a belief it also knows the largest stable step size of SGD. C may have a step size of its
// own.
type Affine interface {
	// Structure returns the layout of C.
	Structure() Layout
	// PriorMatrix returns the entries of D B, [runs, N_theta, Width], and their layout, if the prior adds D B z to the
	// parameters. Otherwise it returns nil.
	PriorMatrix(p Params) (*Node, Layout)
}

// Particles is a belief with separate parameters for each of finitely many indices: nu is one node,
// [runs, N_z, N_theta].
type Particles interface {
	// NumParticles returns N_z.
	NumParticles() int
}

// Variational is a belief for which the components of g_nu(z) are independent Gaussians. Gaussian returns their means
// and standard deviations, each [runs, N_theta].
type Variational interface {
	Gaussian(nu []*Node) (mu, sd *Node)
}

// Marginals is a belief for which the components of theta, prior included, are independent Gaussians.
type Marginals interface {
	// Marginal returns the means and the standard deviations of the components, each [runs, N_theta].
	Marginal(p Params) (mu, sd *Node)
	// PredictAt returns the predictions with parameters theta: [runs, n, inputs] for theta [runs, n, N_theta].
	PredictAt(theta, x *Node) *Node
}

// OwnGradient is a [Parametric] belief that computes the gradient of its trained part, or a [BaseModel] that computes
// its gradient. Training then uses automatic differentiation for the hypermodel only.
type OwnGradient interface {
	// Forward returns the predictions with parameters theta, [runs, indices, inputs], and a function backward. For df
	// [runs, indices, inputs], backward returns the gradient of sum(df * f) with respect to theta,
	// [runs, indices, N_theta].
	Forward(theta, x *Node) (f *Node, backward func(df *Node) *Node)
}

// Each is a belief that can predict each input with a different index.
type Each interface {
	// PredictEach returns the prediction at input i of the function with index i, for each i: [runs, inputs]. The
	// number of indices z is the number of inputs x.
	PredictEach(nu []*Node, z index.Set, x *Node) *Node
}

// Conjugate is a belief that is the posterior of theta in phi(x)^T theta, under a Gaussian prior and Gaussian noise.
// theta consists of independent blocks of the same size. nu is (mu [runs, N_theta], S [runs, blocks, size, size]).
//
// A block may have two parts, each of which is a separate model of all responses. nu then has an S for each part, and
// ends with the probability of the second model, [runs]. See [BayesianLinear].
type Conjugate interface {
	// NumTheta returns N_theta.
	NumTheta() int
	// Parts returns the sizes of the one or two parts of a block.
	Parts() []int
	// Phi returns phi(x) within the block of each input, [runs, inputs, sum of the parts' sizes], and the index of each
	// input's block, int32 [runs, inputs].
	Phi(p Params, x *Node) (phi, block *Node)
}

// Conditioned is a belief that trains only its mean, by a loss that does not depend on an index. The deviations from
// the mean follow from the inputs of the data in closed form. See [NetworkGP].
type Conditioned interface {
	// Mean returns the belief that is trained: its parameters are nu.
	Mean() Belief
	// Keep returns Params.Kept after one more datum in each run, with input x [runs, 1, features]. precision [runs] is
	// the datum's weight times the curvature of the loss, divided by sigma_w^2. Keep may read p.Fixed and p.Kept.
	Keep(p Params, x, precision *Node) map[string]*Node
	// NumKept returns the number of numbers in Params.Kept of one run.
	NumKept() int
}

// Predictive is a belief that can draw the values of functions at given inputs without drawing the functions.
type Predictive interface {
	// Draw returns the values of n functions at inputs x, [runs, n, inputs].
	Draw(p Params, s rng.Stream, n int, x *Node) *Node
}

// CapabilitiesOf returns what a belief can do. All fields are nil if the belief is not [Capable].
func CapabilitiesOf(b Belief) Capabilities {
	if c, ok := b.(Capable); ok {
		return c.Capabilities()
	}
	return Capabilities{}
}

// Sample draws n functions of a belief for each run and returns their predictions at inputs x, [runs, n, inputs]. It
// draws n new indices and calls Predict. If the belief is [Predictive] or has [Marginals], Sample draws the values or
// theta directly, without an index.
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
