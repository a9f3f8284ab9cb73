package train

import (
	"cmp"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// SGLD is stochastic gradient Langevin dynamics (Welling and Teh 2011): steps of SGD, and noise,
//
//	nu <- nu - e grad L~(nu) + sqrt(2 e Temperature) xi,   xi ~ N(0, I),   e = alpha / |D|
//
// for each particle with its own L~. After many small steps nu is a draw from the posterior, without perturbations of
// the data. The density of the posterior is proportional to exp(-L / Temperature). Thompson sampling acts by this draw
// (Xu et al. 2022, "Langevin Monte Carlo for contextual bandits"). SGLD needs a single network, or an ensemble that is
// trained as a whole (Analytic, FullData); each particle is then a separate chain. Set the perturbations to 0, and let
// nu_0, to which the regularizer pulls, be the mean of the prior, or use Decay: otherwise the perturbations and the
// random nu_0 add as much variance again.
type SGLD struct {
	Temperature float64 `help:"temperature of the posterior that particles are drawn from; 0 is 1"`
}

var (
	_ linear = SGLD{}
	_ noisy  = SGLD{}
)

// LinearInGradients marks the optimizer: see [Optimizer].
func (SGLD) LinearInGradients() {}

// Init returns no state.
func (SGLD) Init([]*Node) []*Node { return nil }

// Update makes the step of [SGD].
func (SGLD) Update(state, nu, grads []*Node, step *Node) ([]*Node, []*Node) {
	return SGD{}.Update(state, nu, grads, step)
}

// Deviation returns the square root of 2 step Temperature.
func (o SGLD) Deviation(step *Node) *Node {
	return Sqrt(MulScalar(step, 2*cmp.Or(o.Temperature, 1)))
}

// Validate reports a Temperature that is negative or not finite.
func (o SGLD) Validate() error { return faults.NotNegative("Temperature", o.Temperature) }

// langevin reports why the noise of an optimizer does not give draws from the posterior here.
func (p problem) langevin() error {
	if _, ok := p.Optimizer.(noisy); !ok || p.Integrate == Exact {
		return nil
	}
	switch {
	case p.Particles == nil:
		return faults.New("Optimizer", "sgld is only for one network or an ensemble; use sgd or adam")
	case p.Particles.NumParticles() > 1 && p.sampled():
		return faults.New("Optimizer", "sgld moves all particles in each step; use %s analytic or full-data",
			faults.Name("Integrate"))
	}
	return nil
}

// shocks returns the random numbers that a noisy optimizer adds in the steps of a period: standard normal, [runs,
// steps, N] for each node of nu with N numbers. For other optimizers it returns nil.
func (p problem) shocks(s rng.Stream, nu []*Node) (out []*Node) {
	if _, ok := p.Optimizer.(noisy); !ok {
		return nil
	}
	for i, v := range nu {
		out = append(out, s.Step(i).Normal(p.Steps, v.Shape().Size()/v.Shape().Dim(0)))
	}
	return out
}

// shake adds shocks, [runs, 1, N] for each node of nu, after a step. step is alpha, and size is |D|, a float32 scalar.
func (p problem) shake(state State, shocks []*Node, step, size *Node) {
	each := Div(step, MulScalar(size, float64(p.Particles.NumParticles()))) // the loss is a mean over particles
	sd := p.Optimizer.(noisy).Deviation(each)
	for i, v := range list(state, "nu") {
		state[key("nu", i)] = Add(v, Mul(perRun(sd, v), Reshape(shocks[i], v.Shape().Dimensions...)))
	}
}
