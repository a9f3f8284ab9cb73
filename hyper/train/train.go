// Package train fits hypermodels by perturbed SGD (section 2.1). It has the losses, the optimizers, the replay buffer,
// and several ways to compute the gradient of the loss. For base models linear in theta it can keep the minimiser
// itself up to date, datum by datum ([Exact]), and it has an [Oracle] to test against.
//
// A [Trainer] is a belief with a [Config]. Its methods build graphs: Init makes a [State], Observe adds a datum of each
// run, and Train makes a period's SGD steps. All graph functions work on a batch of runs at once; package hyper
// describes the axes. A State holds everything that a trainer keeps between periods: graph functions take a state and
// return the next one.
//
// # Routes
//
// A [Route] is one way to compute the gradient of the loss L~ of an SGD step. All routes that fit have the same
// expected gradient, and differ in the work. [Routes] lists them, from the fastest to the slowest, and a Trainer takes
// the first route that fits:
//
//	posterior      Exact, and a conjugate belief (hyper.Conjugate)
//	exact          Exact, and predictions linear in theta
//	all sums       FullData: sums of a fixed size over all data
//	closed form    Analytic: the expectation over z in closed form, on sums of the minibatch
//	sums           Sampled, predictions linear in theta, more data in a minibatch than parameters
//	features       Sampled, predictions linear in theta
//	own gradient   a belief that computes its own gradient (hyper.CapabilitiesOf(b).Gradient)
//	automatic differentiation   every belief and every loss
//
// Whether a route fits depends on the Config and on the capabilities of the belief (hyper.CapabilitiesOf), never on the
// belief's type. The first two routes compute the minimiser of the loss instead of a gradient, and make no SGD steps.
//
// In this package a route is a line of the list in route.go: its name, its condition (fits.go), and its solver, which
// says what the state keeps, what a datum changes, and the gradient of a step. A belief of another module brings a
// gradient of its own by a capability, hyper.OwnGradient.
package train
