// Package hyper represents what an agent believes: distributions over functions that can be trained, drawn from, and
// used to explore. They are the hypermodels, ensembles, additive priors and other beliefs of "Hypermodels for
// Exploration" (ICLR 2020) and of later work, on GoMLX.
//
// A [Belief] is three functions. Its index distribution p_z says what an index z is, Init draws the parameters before
// any data, and Predict computes the function that an index identifies. This belief is linear functions, whose weights
// are mu + C z:
//
//	type plane struct{ features int }
//
//	func (b plane) Index() index.Distribution { return index.Gaussian{N: 2} }
//
//	func (b plane) Init(s rng.Stream, scale *Node) hyper.Params {
//		nu := []*Node{s.Named("mu").Normal(b.features), s.Named("C").Normal(b.features, 2)}
//		return hyper.Params{Nu: nu}
//	}
//
//	func (b plane) Predict(p hyper.Params, z index.Set, x *Node) *Node {
//		theta := Add(InsertAxes(p.Nu[0], 1), Einsum("rfz,rnz->rnf", p.Nu[1], z.Dense()))
//		return Einsum("rnf,rif->rni", theta, x)
//	}
//
// Package train trains any belief by automatic differentiation, package explore decides by its predictions, and package
// agent puts it into a service. A belief that can do more says so by its [Capabilities], and is then trained and
// sampled faster. None is needed.
//
// # The beliefs of the paper
//
// A [BaseModel] f_theta maps an input x to a prediction, given parameters theta. A [Hypermodel] g_nu maps an index z to
// parameters theta (section 2). A [Model] is the belief that consists of both, with an optional additive [Prior]. Other
// beliefs are one file each: [Epinet], [BayesianLinear], [NetworkGP], [LastLayer], [SharedEnsemble] and
// [EnsemblePlusPlus]. All are in this package, because a program and its saved agents name a belief as hyper.X.
//
// # A network of your own
//
// [NewModelFunction] takes any model function of GoMLX with its variables, such as an embedding that a checkpoint
// holds. [OnFeatures] is a belief on its outputs, with the network frozen or trained. With one output, the function is
// also a base model and a prior.
//
//	f, err := hyper.NewModelFunction(backend, store, embedding, 256)
//	belief := hyper.OnFeatures{Function: f, Belief: hyper.NewEpinet(f.NumOutputs())}
//
// # Axes
//
// GoMLX has no vmap. Therefore every function of this package works on a batch of independent runs and of indices:
//
//	theta        [runs, indices, N_theta]
//	x            [runs, inputs, features]
//	predictions  [runs, indices, inputs]
//
// A run is one independent history of an agent and its environment; a service has one run. The functions build graphs.
// They panic on wrong shapes, as the functions of GoMLX do, and the Exec that builds the graph turns the panic into an
// error.
//
// The package holds no state: parameters are arguments. All types are safe for concurrent use.
package hyper

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Version is the version of the module, which result files and `hyper doctor` report.
const Version = "0.1.0"

// BaseModel is a class of functions f_theta (section 2). Package base has the base models of the paper.
type BaseModel interface {
	// Groups returns the sizes of consecutive groups of parameters, such as the layers of a network. The sum of the
	// sizes is N_theta.
	Groups() []int
	// Apply returns the predictions f_theta(x), [runs, indices, inputs].
	Apply(theta, x *Node) *Node
}

// FixedInputs is a base model or a belief that knows the length of its inputs. Callers can then refuse other inputs
// before anything is compiled.
type FixedInputs interface {
	// Inputs returns the number of features of an input. It returns 0 for arms, and -1 if a belief does not know the
	// number.
	Inputs() int
}

// LinearBase is a base model that is linear in theta, f_theta(x) = phi(x)^T theta. Let row i of Phi be phi(x) of datum
// i. Perturbed SGD then needs only Phi^T Phi and Phi^T v of the data.
type LinearBase interface {
	BaseModel
	// Diagonal reports whether Phi^T Phi is diagonal for all data. If so, only the diagonal is stored.
	Diagonal() bool
	// NoData returns the Gram matrix of an empty data set: zeros.
	NoData(g *Graph, runs int) *Node
	// Gram returns Phi^T Phi in a form that the model chooses. The first axis is the axis of the runs.
	Gram(x *Node) *Node
	// Project returns Phi^T v, [runs, N_theta, columns], for v [runs, inputs, columns].
	Project(x, v *Node) *Node
	// GramMul returns (Phi^T Phi) v for v [runs, N_theta, columns].
	GramMul(gram, v *Node) *Node
}

// Hypermodel is a class of functions g_nu from indices to parameters of a base model, with a reference distribution. A
// [Model] has the capability [Affine] if its hypermodel has a method Structure() Layout. It has the capability
// [Particles], [Variational] or [Each] if its hypermodel has the methods of this interface (Each only without a prior).
type Hypermodel interface {
	// Index returns the reference distribution p_z.
	Index() index.Distribution
	// NumTheta returns N_theta, the length of g_nu(z).
	NumTheta() int
	// NumInvolved returns the number of hypermodel parameters involved in each index sample: n_params in the paper's
	// measure of computation (section 4.1).
	NumInvolved() int
	// Init draws nu_0: one or more nodes, each [runs, ...].
	Init(s rng.Stream) []*Node
	// Theta returns g_nu(z), [runs, indices, N_theta].
	Theta(nu []*Node, z index.Set) *Node
}

// NumTheta returns N_theta, the number of parameters of a base model.
func NumTheta(b BaseModel) int {
	return sum(b.Groups())
}

func sum(sizes []int) (n int) {
	for _, size := range sizes {
		n += size
	}
	return n
}
