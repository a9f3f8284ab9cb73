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
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Route is a way to compute the gradient of the loss, or the minimiser of the loss: see Routes in the documentation of
// the package. [AddRoute] adds a route of another module, which sets all fields.
type Route struct {
	Name  string
	About string // what it computes, and when it applies
	// Fits returns nil if the route can train t.Belief with t.Config, and otherwise the reason. For a route of another
	// module, t.Belief is the mean of a belief that is hyper.Conditioned.
	Fits func(t Trainer) error
	// Gradient builds the gradient of L~ (see [Trainer.Objective]) for one SGD step: a node for each node of
	// m.Params.Nu, of the same shape. It is nil for the routes of this package.
	Gradient func(t Trainer, m Minibatch) []*Node

	solver func(p problem) solver
}

// Minibatch is what the gradient of one SGD step depends on, for each run.
type Minibatch struct {
	Params  hyper.Params
	Data    Batch     // Config.Batch data; A is nil if the data are not perturbed
	Indices index.Set // the indices of the step, or all indices if Integrate is Analytic
	Size    *Node     // |D|, a float32 scalar
	Rates   Rates
}

// solver does the work of a route for a given problem.
type solver interface {
	// memory returns the solver's entries of a State before any data.
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

// routes lists the routes of this package, from the fastest to the slowest.
var routes = []Route{
	own("posterior", "the Gaussian posterior itself, datum by datum: integrate exact, beliefs that are one",
		problem.fitsPosterior, newPosterior),
	own("exact", "the minimiser itself, datum by datum: integrate exact", problem.fitsExact, newExact),
	own("all sums", "the gradient on all data from sums of a fixed size: integrate full-data",
		problem.fitsAllSums, newAllSums),
	own("closed form", "the expectation over z in closed form, from sums of the minibatch: integrate analytic, "+
		"predictions linear in theta", problem.fitsClosedForm, newClosedForm),
	own("sums", "sums of the minibatch before indices: sampled indices, predictions linear in theta, a quadratic loss, "+
		"and more data than parameters", problem.fitsSums, newSums),
	own("features", "products with the features of the data: sampled indices, predictions linear in theta",
		problem.fitsFeatures, newFeatures),
	own("own gradient", "a network's own backward pass", problem.fitsOwnGradient, newOwnGradient),
	own("automatic differentiation", "every belief and every loss", problem.fitsAutodiff, newAutodiff),
}

// own returns a route of this package.
func own(name, about string, fits func(p problem) error, solver func(p problem) solver) Route {
	return Route{Name: name, About: about, Fits: func(t Trainer) error { return fits(t.problem()) }, solver: solver}
}

// added holds the routes of other modules.
var added struct {
	sync.RWMutex
	routes []Route
}

// Routes lists all routes, in the order in which a [Trainer] tries them. A Trainer takes the first route that fits.
func Routes() []Route {
	added.RLock()
	defer added.RUnlock()
	return slices.Concat(added.routes, routes)
}

// Route returns the route that the trainer takes. The trainer's configuration must be valid.
func (t Trainer) Route() Route {
	for _, r := range Routes() {
		if r.Fits(t) == nil {
			return r
		}
	}
	return routes[len(routes)-1]
}

// solver returns the solver of the trainer's route.
func (t Trainer) solver() solver { return t.Route().solver(t.problem()) }

// AddRoute adds a route on minibatches, which trainers try before the routes of this package. It can fit if
// Config.Integrate is Sampled, or Analytic for a belief whose indices are listed. The library draws the minibatches and
// the indices. AddRoute panics if a field is missing or the name is taken. Call it before the work begins: a program
// that is compiled keeps its route.
func AddRoute(r Route) {
	named := func(other Route) bool { return other.Name == r.Name }
	switch {
	case r.Name == "" || r.About == "" || r.Fits == nil || r.Gradient == nil:
		panic(fmt.Sprintf("train: cannot add the route %q: it needs Name, About, Fits and Gradient", r.Name))
	case slices.ContainsFunc(Routes(), named):
		panic(fmt.Sprintf("train: cannot add the route %q: the name is taken", r.Name))
	}
	added.Lock()
	defer added.Unlock()
	added.routes = append(added.routes, r.onMinibatches())
}

// onMinibatches returns the route of another module with the conditions and the solver of all routes on minibatches.
func (r Route) onMinibatches() Route {
	out := r
	out.Fits = func(t Trainer) error {
		p := t.problem()
		if !p.Replays() {
			return errOther
		}
		return errors.Join(p.fitsAutodiff(), r.Fits(Trainer{p.belief, p.Config}))
	}
	out.solver = func(p problem) solver { return addedSolver{minibatches{p}, r} }
	return out
}

// addedSolver computes the gradient by the route of another module.
type addedSolver struct {
	minibatches
	route Route
}

func (s addedSolver) gradient(state State, d *draws, i loop.Index, size *Node, r Rates) []*Node {
	at, name := params(state), s.route.Name
	step := Minibatch{at, d.data.step(i, s.Batch), d.indices(i), size, r}
	grads := s.route.Gradient(Trainer{s.belief, s.Config}, step)
	if len(grads) != len(at.Nu) {
		exceptions.Panicf("route %q: the gradient has %d nodes, and nu has %d", name, len(grads), len(at.Nu))
	}
	for j, g := range grads {
		if !g.Shape().Equal(at.Nu[j].Shape()) {
			exceptions.Panicf("route %q: node %d of the gradient has shape %s, and nu has %s", name, j, g.Shape(),
				at.Nu[j].Shape())
		}
	}
	return grads
}
