// Package hyper provides the concepts of section 2 of "Hypermodels for Exploration" (ICLR 2020) on GoMLX: base models,
// hypermodels, reference distributions and additive priors.
//
// A base model f_theta maps an input x to a prediction, given parameters theta. A hypermodel g_nu maps an index z to
// parameters theta. With a reference distribution p_z it represents a distribution over base models: draw z, and use
// f_{g_nu(z)}. [Model] joins the three, with an optional additive prior.
//
// # Axes
//
// GoMLX has no vmap, so every function here is written for a batch of independent runs and of indices:
//
//	theta        [runs, indices, N_theta]
//	x            [runs, inputs, features]
//	predictions  [runs, indices, inputs]
//
// A run is one independent history of agent and environment; in a service, runs is 1. These functions build graphs:
// they panic on wrong shapes, as GoMLX's do, and the panic becomes an error of the Exec that builds the graph.
//
// Nothing here holds state: parameters are arguments. All types are safe for concurrent use.
package hyper

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Version of the module, as result files and `hyper doctor` report it.
const Version = "0.1.0"

// BaseModel is a class of functions f_theta (section 2). Package base has the ones of the paper.
type BaseModel interface {
	// Groups returns the sizes of the consecutive groups of parameters: the layers of a network. Their sum is N_theta.
	Groups() []int
	// Apply returns the predictions f_theta(x), [runs, indices, inputs].
	Apply(theta, x *Node) *Node
}

// FixedInputs is a base model, or a belief, that knows the length of its inputs, so that others can be refused before
// anything is compiled.
type FixedInputs interface {
	// Inputs is the number of features of an input; 0 is for arms, and -1 for a belief that does not know it.
	Inputs() int
}

// DifferentiableBase is a base model that knows its gradient. Training then differentiates only the hypermodel
// automatically.
type DifferentiableBase interface {
	BaseModel
	// Forward returns what Apply does, and a function that returns the gradient of sum(df * f) with respect to theta,
	// [runs, indices, N_theta], for df [runs, indices, inputs].
	Forward(theta, x *Node) (f *Node, backward func(df *Node) *Node)
}

// LinearBase is a base model that is linear in theta, f_theta(x) = phi(x)^T theta. Perturbed SGD then needs the data
// only through Phi^T Phi and Phi^T v, where the rows of Phi are phi(x) of each datum.
type LinearBase interface {
	BaseModel
	// Diagonal tells whether Phi^T Phi is diagonal for all data: it is then kept as its diagonal.
	Diagonal() bool
	// NoData returns the Gram matrix of no data: zeros.
	NoData(g *Graph, runs int) *Node
	// Gram returns Phi^T Phi, in the model's own form, with the runs axis first.
	Gram(x *Node) *Node
	// Project returns Phi^T v, [runs, N_theta, columns], for v [runs, inputs, columns].
	Project(x, v *Node) *Node
	// GramMul returns (Phi^T Phi) v for v [runs, N_theta, columns].
	GramMul(gram, v *Node) *Node
}

// Hypermodel is a class of functions g_nu from indices to base model parameters, with its reference distribution. One
// that is [Affine] without a prior of its own (a method Structure), has [Particles], or is [Variational], makes models
// that are.
type Hypermodel interface {
	// Index is the reference distribution p_z.
	Index() index.Distribution
	// NumTheta is N_theta, the length of g_nu(z).
	NumTheta() int
	// NumInvolved is the number of hypermodel parameters involved in each index sample: n_params in the paper's
	// measure of computation (section 4.1).
	NumInvolved() int
	// Init draws nu_0: one or more nodes, each [runs, ...].
	Init(s rng.Stream) []*Node
	// Theta returns g_nu(z): [runs, indices, N_theta].
	Theta(nu []*Node, z index.Set) *Node
}

// NumTheta is N_theta, the number of parameters of a base model.
func NumTheta(b BaseModel) int {
	return sum(b.Groups())
}

func sum(sizes []int) (n int) {
	for _, size := range sizes {
		n += size
	}
	return n
}
