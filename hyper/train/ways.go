package train

import (
	"errors"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Way is a way to compute the gradient of the loss, or the minimiser of the loss. All ways that fit have the same
// expected gradient; they differ in the amount of work.
type Way struct {
	Name  string
	About string                // what it computes, and when it applies
	fits  func(p problem) error // reports why the way cannot be taken
	new   func(p problem) route
}

// Ways lists all ways. A [Trainer] takes the first way that fits, which is the fastest.
var Ways = []Way{
	{"posterior", "the Gaussian posterior itself, datum by datum: integrate exact, beliefs that are one",
		problem.byPosterior, newPosterior},
	{"exact", "the minimiser itself, datum by datum: integrate exact", problem.exactly, newExact},
	{"all sums", "the gradient on all data from sums of a fixed size: integrate full-data",
		problem.byAllSums, newAllSums},
	{"closed form", "the expectation over z in closed form, from sums of the minibatch: integrate analytic, " +
		"predictions linear in theta", problem.inClosedForm, newClosedForm},
	{"sums", "sums of the minibatch before indices: sampled indices, predictions linear in theta, a quadratic loss, " +
		"and more data than parameters", problem.bySums, newSums},
	{"features", "products with the features of the data: sampled indices, predictions linear in theta",
		problem.byFeatures, newFeatures},
	{"own gradient", "a network's own backward pass", problem.byOwnGradient, newOwnGradient},
	{"automatic differentiation", "every belief and every loss", problem.byAutodiff, newAutodiff},
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

// route is a Way for a given problem.
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

// Way returns the way that the trainer takes. The trainer's configuration must be valid.
func (t Trainer) Way() Way {
	p := t.problem()
	for _, w := range Ways {
		if w.fits(p) == nil {
			return w
		}
	}
	return Ways[len(Ways)-1]
}

func (t Trainer) route() route { return t.Way().new(t.problem()) }

// fits reports why no way can be taken: the reason against the way that Integrate asks for.
func (p problem) fits() error {
	if p.Conjugate != nil && p.Integrate != Exact {
		return fmt.Errorf("%T is its own posterior, which no step of SGD changes; use Integrate exact, not %s", p.belief,
			p.Integrate)
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
		return errors.New("Regularize kl needs a mean-field hypermodel; use anchor")
	case p.Weights != Unweighted && !p.perturbs():
		return fmt.Errorf("Weights %s are made from a^T z, which indices of %T do not have; use none", p.Weights, p.z)
	case p.Weights != Unweighted && p.Unperturbed:
		return fmt.Errorf("Weights %s are made from a^T z, which Unperturbed data do not have; use one of them",
			p.Weights)
	case !p.sampled() && !(p.Integrate == Analytic && p.oneHot()):
		return errOther
	}
	return nil
}

// errOther says that a way is for another integration, or for other beliefs.
var errOther = errors.New("another way is meant")

// ownIndices reports whether each datum of a step has its own index.
func (c Config) ownIndices() bool { return c.sampled() && c.IndexSet == PerDatum }

// anchors reports whether the regularizer is Anchor. The ways by sums and in closed form support no other regularizer.
func (c Config) anchors() bool { return c.Regularize == 0 || c.Regularize == Anchor }

// linearInTheta reports whether the predictions are phi(x)^T theta, prior included.
func (p problem) linearInTheta() bool {
	return p.Linear != nil && p.Parametric != nil && p.Additive == nil
}

// plain reports why sums of the data are not enough to compute the loss.
func (p problem) plain() error {
	switch {
	case !p.Loss.Quadratic():
		return fmt.Errorf("Integrate %s needs a quadratic loss, not %T; use sampled", p.Integrate, p.Loss)
	case p.Weights != Unweighted:
		return fmt.Errorf("Integrate %s has no Weights, which are other ones for each index; use sampled", p.Integrate)
	case p.Weighted && p.Integrate != Exact:
		return fmt.Errorf("Integrate %s has no weights of data; use sampled or exact", p.Integrate)
	case !p.anchors():
		return fmt.Errorf("Integrate %s goes with the regularizer anchor; use sampled", p.Integrate)
	case p.Unperturbed:
		return fmt.Errorf("Integrate %s takes sums with perturbations, which Unperturbed data do not have; use sampled",
			p.Integrate)
	}
	return nil
}

// closed reports why the expectation over z has no closed form here.
func (p problem) closed() error {
	switch {
	case !p.perturbs():
		return fmt.Errorf("Integrate %s needs indices of mean 0, or one-hot ones, not %T; use sampled",
			p.Integrate, p.z)
	case !p.linearInTheta():
		return fmt.Errorf("Integrate %s needs a base model that is linear in its parameters; use sampled", p.Integrate)
	case p.oneHot():
		return nil
	case p.Affine == nil:
		return fmt.Errorf("Integrate %s needs a linear hypermodel or an ensemble; use sampled", p.Integrate)
	case !p.sharesLayout():
		return fmt.Errorf("Integrate %s needs a prior with the hypermodel's layout; use sampled", p.Integrate)
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
