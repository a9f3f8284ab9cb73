package train

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/support/exceptions"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Route computes the gradient of the loss, or the minimiser of the loss. All routes that fit have the same expected
// gradient; they differ in the amount of work. [AddRoute] adds a route of another module, which needs all fields.
type Route struct {
	Name  string
	About string // what it computes, and when it applies
	// Fits returns nil if the route can train t.Belief with t.Config, and otherwise the reason. If the belief is
	// hyper.Conditioned, t.Belief is its mean.
	Fits func(t Trainer) error
	// Gradient builds the gradient of L~ (see [Trainer.Objective]) for one SGD step: a node for each node of
	// m.Params.Nu, of the same shape. It is nil for the routes of this package.
	Gradient func(t Trainer, m Minibatch) []*Node
}

// Minibatch is what the gradient of one SGD step depends on, for each run.
type Minibatch struct {
	Params  hyper.Params
	Data    Batch     // Config.Batch data; A is nil if the data are not perturbed
	Indices index.Set // the indices of the step, or all indices if Integrate is Analytic
	Size    *Node     // |D|, a float32 scalar
	Rates   Rates
}

// method is a route with its work for a given problem.
type method struct {
	Route
	fits func(p problem) error // reports why the route cannot be taken
	new  func(p problem) route
}

// methods lists the routes of this package, from the fastest to the slowest.
var methods = []method{
	own("posterior", "the Gaussian posterior itself, datum by datum: integrate exact, beliefs that are one",
		problem.byPosterior, newPosterior),
	own("exact", "the minimiser itself, datum by datum: integrate exact", problem.exactly, newExact),
	own("all sums", "the gradient on all data from sums of a fixed size: integrate full-data",
		problem.byAllSums, newAllSums),
	own("closed form", "the expectation over z in closed form, from sums of the minibatch: integrate analytic, "+
		"predictions linear in theta", problem.inClosedForm, newClosedForm),
	own("sums", "sums of the minibatch before indices: sampled indices, predictions linear in theta, a quadratic loss, "+
		"and more data than parameters", problem.bySums, newSums),
	own("features", "products with the features of the data: sampled indices, predictions linear in theta",
		problem.byFeatures, newFeatures),
	own("own gradient", "a network's own backward pass", problem.byOwnGradient, newOwnGradient),
	own("automatic differentiation", "every belief and every loss", problem.byAutodiff, newAutodiff),
}

func own(name, about string, fits func(p problem) error, new func(p problem) route) method {
	r := Route{Name: name, About: about, Fits: func(t Trainer) error { return fits(t.problem()) }}
	return method{r, fits, new}
}

// added holds the routes of other modules.
var added struct {
	sync.RWMutex
	methods []method
}

// all returns all routes in the order in which trainers try them.
func all() []method {
	added.RLock()
	defer added.RUnlock()
	return slices.Concat(added.methods, methods)
}

// Routes lists all routes. A [Trainer] takes the first route that fits.
func Routes() (list []Route) {
	for _, m := range all() {
		list = append(list, m.Route)
	}
	return list
}

// AddRoute adds a route on minibatches, which trainers try before the routes of this package. It can fit if
// Config.Integrate is Sampled, or Analytic for a belief whose indices are listed. The library draws the minibatches and
// the indices. AddRoute panics if a field is missing or the name is taken. Call it before the work begins: a program
// that is compiled keeps its route.
func AddRoute(r Route) {
	named := func(m method) bool { return m.Name == r.Name }
	switch {
	case r.Name == "" || r.About == "" || r.Fits == nil || r.Gradient == nil:
		panic(fmt.Sprintf("train: cannot add the route %q: it needs Name, About, Fits and Gradient", r.Name))
	case slices.ContainsFunc(all(), named):
		panic(fmt.Sprintf("train: cannot add the route %q: the name is taken", r.Name))
	}
	fits := func(p problem) error {
		if !p.Replays() {
			return errOther
		}
		return errors.Join(p.byAutodiff(), r.Fits(Trainer{p.belief, p.Config}))
	}
	added.Lock()
	defer added.Unlock()
	added.methods = append(added.methods, method{r, fits, func(p problem) route { return addedRoute{minibatches{p}, r} }})
}

// addedRoute is the route of another module for a given problem.
type addedRoute struct {
	minibatches
	of Route
}

func (w addedRoute) gradient(state State, d *draws, i loop.Index, size *Node, r Rates) []*Node {
	at := params(state)
	grads := w.of.Gradient(Trainer{w.belief, w.Config}, Minibatch{at, d.data.step(i, w.Batch), d.indices(i), size, r})
	if len(grads) != len(at.Nu) {
		exceptions.Panicf("route %q: the gradient has %d nodes, and nu has %d", w.of.Name, len(grads), len(at.Nu))
	}
	for j, g := range grads {
		if !g.Shape().Equal(at.Nu[j].Shape()) {
			exceptions.Panicf("route %q: node %d of the gradient has shape %s, and nu has %s", w.of.Name, j, g.Shape(),
				at.Nu[j].Shape())
		}
	}
	return grads
}

// problem is what a Trainer trains: the configuration, the belief and the belief's capabilities. For a Conditioned
// belief, belief is its mean.
type problem struct {
	Config
	hyper.Capabilities
	belief hyper.Belief
	z      index.Distribution
	whole  hyper.Conditioned // the belief whose mean is trained; nil for other beliefs
}

// route is a Route for a given problem.
type route interface {
	// memory returns the route's entries of a State before any data.
	memory(g *Graph, runs int) State
	// observe adds a datum of each run to the state.
	observe(state State, d datum, r Rates)
	// revise corrects the response of a datum of each run.
	revise(state State, c Correction, r Rates)
	// draw draws the random numbers and data that the SGD steps of a period need.
	draw(state State, s rng.Stream, size, actions *Node, r Rates) draws
	// gradient returns grad L~ of the i-th step.
	gradient(state State, d *draws, i loop.Index, size *Node, r Rates) []*Node
}

func (t Trainer) problem() problem { return newProblem(t.Config, t.Belief) }

func newProblem(c Config, b hyper.Belief) problem {
	c.Loss, c.Optimizer = c.loss(), c.optimizer()
	whole := hyper.CapabilitiesOf(b).Conditioned
	if whole != nil {
		b = whole.Mean()
	}
	return problem{c, hyper.CapabilitiesOf(b), b, b.Index(), whole}
}

// Route returns the route that the trainer takes. The trainer's configuration must be valid.
func (t Trainer) Route() Route { return t.method().Route }

func (t Trainer) method() method {
	p := t.problem()
	for _, m := range all() {
		if m.fits(p) == nil {
			return m
		}
	}
	return methods[len(methods)-1]
}

func (t Trainer) route() route { return t.method().new(t.problem()) }

// fits reports why no route can be taken: the reason against the route that Integrate asks for.
func (p problem) fits() error {
	if p.Conjugate != nil && p.Integrate != Exact {
		return faults.New("", "%T is its own posterior, which no step of SGD changes; use %s exact, not %s", p.belief,
			faults.Name("Integrate"), p.Integrate)
	}
	switch p.Integrate {
	case Exact:
		return p.exactly()
	case FullData:
		return p.byAllSums()
	case Analytic:
		if err := p.inClosedForm(); err == nil || !p.oneHot() {
			return err
		}
	}
	return p.byAutodiff()
}

func (p problem) byPosterior() error {
	if p.Integrate != Exact || p.Conjugate == nil {
		return errOther
	}
	return p.plain()
}

func (p problem) exactly() error {
	if p.Integrate != Exact {
		return errOther
	}
	return errors.Join(ExactFor(p.belief), p.plain())
}

func (p problem) byAllSums() error {
	if p.Integrate != FullData {
		return errOther
	}
	return errors.Join(p.closed(), p.plain())
}

func (p problem) inClosedForm() error {
	if p.Integrate != Analytic {
		return errOther
	}
	return errors.Join(p.closed(), p.plain())
}

func (p problem) bySums() error {
	switch {
	case !p.sampled() || p.ownIndices() || p.plain() != nil || !p.linearInTheta():
		return errOther
	case !p.Linear.Diagonal() && p.Batch < p.Parametric.NumTheta(): // Phi^T Phi is larger than the data
		return errOther
	}
	return nil
}

func (p problem) byFeatures() error {
	if !p.sampled() || p.ownIndices() || !p.anchors() || !p.linearInTheta() {
		return errOther
	}
	return nil
}

func (p problem) byOwnGradient() error {
	if p.Gradient == nil || p.Parametric == nil || p.ownIndices() {
		return errOther
	}
	return p.byAutodiff()
}

func (p problem) byAutodiff() error {
	switch {
	case p.Regularize == KL && p.Variational == nil:
		return faults.New("Regularize", "kl needs a mean-field hypermodel; use anchor")
	case p.Weights != Unweighted && !p.perturbs():
		return faults.New("Weights", "%s are made from a^T z, which indices of %T do not have; use none", p.Weights, p.z)
	case p.Weights != Unweighted && p.Unperturbed:
		return faults.New("Weights", "%s are made from a^T z, which Unperturbed data do not have; use one of them",
			p.Weights)
	case !p.sampled() && !(p.Integrate == Analytic && p.oneHot()):
		return errOther
	}
	return nil
}

// errOther says that a route is for another integration, or for other beliefs.
var errOther = errors.New("another route is meant")

// ownIndices reports whether each datum of a step has its own index.
func (c Config) ownIndices() bool { return c.sampled() && c.IndexSet == PerDatum }

// anchors reports whether the regularizer is Anchor. The routes by sums and in closed form support no other
// regularizer.
func (c Config) anchors() bool { return c.Regularize == 0 || c.Regularize == Anchor }

// linearInTheta reports whether the predictions are phi(x)^T theta, prior included.
func (p problem) linearInTheta() bool {
	return p.Linear != nil && p.Parametric != nil && p.Additive == nil
}

// plain reports why sums of the data are not enough to compute the loss.
func (p problem) plain() error {
	switch {
	case !p.Loss.Quadratic():
		return faults.New("Integrate", "%s needs a quadratic loss, not %T; use sampled", p.Integrate, p.Loss)
	case p.Weights != Unweighted:
		return faults.New("Integrate", "%s does not support %s, which differ between indices; use sampled", p.Integrate,
			faults.Name("Weights"))
	case p.Weighted && p.Integrate != Exact:
		return faults.New("Integrate", "%s has no weights of data; use sampled or exact", p.Integrate)
	case !p.anchors():
		return faults.New("Integrate", "%s goes with the regularizer anchor; use sampled", p.Integrate)
	case p.Unperturbed:
		return faults.New("Integrate", "%s takes sums with perturbations, which Unperturbed data do not have; use sampled",
			p.Integrate)
	}
	return nil
}

// closed reports why the expectation over z has no closed form here.
func (p problem) closed() error {
	switch {
	case !p.perturbs():
		return faults.New("Integrate", "%s needs indices of mean 0, or one-hot ones, not %T; use sampled",
			p.Integrate, p.z)
	case !p.linearInTheta():
		return faults.New("Integrate", "%s needs a base model that is linear in its parameters; use sampled", p.Integrate)
	case p.oneHot():
		return nil
	case p.Affine == nil:
		return faults.New("Integrate", "%s needs a linear hypermodel or an ensemble; use sampled", p.Integrate)
	case !p.sharesLayout():
		return faults.New("Integrate", "%s needs a prior with the hypermodel's layout; use sampled", p.Integrate)
	}
	return nil
}

// perturbs reports whether indices have perturbations a^T z. Masks, which have mean 1, have none.
func (p problem) perturbs() bool { return p.oneHot() || p.z.Moments().Mean == 0 }

// sharesLayout reports whether the prior, if there is one, adds a matrix to C that has the layout of C.
func (p problem) sharesLayout() bool {
	_, l := p.Affine.PriorMatrix(hyper.Params{})
	return len(l.Sizes) == 0 || l.Equal(p.Affine.Structure())
}

// coefficients returns mu [runs, N_theta] and the entries of C + D B, for an affine belief whose prior has the layout
// of C.
func (p problem) coefficients(params hyper.Params) (mu, c *Node) {
	mu, c = params.Nu[0], params.Nu[1]
	if db, _ := p.Affine.PriorMatrix(params); db != nil {
		c = Add(c, db)
	}
	return mu, c
}
