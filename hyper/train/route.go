package train

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Route is a way to compute the gradient of the loss, or the minimiser of the loss: see Routes in the documentation of
// the package.
type Route struct {
	Name  string
	About string // what it computes, and when it applies
	// Fits returns nil if the route can train t.Belief with t.Config, and otherwise the reason.
	Fits func(t Trainer) error

	solver func(p problem) solver
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

// routes lists all routes, from the fastest to the slowest.
var routes = []Route{
	own("posterior", "the Gaussian posterior, updated by each datum: integrate exact, conjugate beliefs",
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

// Routes lists all routes, in the order in which a [Trainer] tries them. A Trainer takes the first route that fits.
func Routes() []Route { return slices.Clone(routes) }

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
