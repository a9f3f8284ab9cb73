package learners

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// EnsemblePlusPlus is an agent with the linear Ensemble++: the exact mean of Bayesian linear regression, and a root of
// its covariance with only Size columns. It gets arms as one-hot vectors.
type EnsemblePlusPlus struct {
	Size      int    `want:"at least 1" help:"M: dimension of the index, or number of particles"`
	Reference string `help:"distribution of the index, with covariance I: gaussian, sphere, cube, coordinate or sparse"`
	Noise     string `key:"perturbation-law" help:"distribution of the perturbations, of length 1: any value of reference"`
	Nonzero   int    `help:"number of components of a sparse vector that are not 0; a divisor of size"`
	Variances
	Inflation float64 `run:"true" want:"positive" help:"the policy gets the variance of the functions times this factor"`
	Exploration
}

// NewEnsemblePlusPlus returns settings with eight columns, a Gaussian index, and perturbations on the sphere.
func NewEnsemblePlusPlus(arms bool) *EnsemblePlusPlus {
	c := &EnsemblePlusPlus{
		Size: 8, Reference: index.LawGaussian.String(), Noise: index.LawSphere.String(), Nonzero: 1,
		Variances: newVariances(), Inflation: 1, Exploration: thompson(),
	}
	if !arms {
		c.PriorVariance = 0
	}
	return c
}

// Belief returns the belief for a problem.
func (c *EnsemblePlusPlus) Belief(p bandit.Problem) hyper.EnsemblePlusPlus {
	return hyper.EnsemblePlusPlus{Features: network.features(p), P: index.Paired{
		N: c.Size, Reference: enum.Of[index.Law](c.Reference), Noise: enum.Of[index.Law](c.Noise), Nonzero: c.Nonzero,
	}}
}

// Learner returns the learner for a problem. The root belongs to the covariance times Inflation: A_0 and the
// perturbations are scaled accordingly. The mean, which depends on the variances of the loss, stays the same.
func (c *EnsemblePlusPlus) Learner(p bandit.Problem, periods int) learner.Learner {
	l := filled(c.Belief(p), p, periods, c.Variances, c.Exploration)
	l.Train = train.Config{Integrate: train.Exact}
	unit := l.Belief.(hyper.EnsemblePlusPlus).UnitVariance()
	l.PriorVariance = cmp.Or(l.PriorVariance, p.PriorVariance, unit)
	l.InitVariance, l.Perturbation = l.PriorVariance*c.Inflation, math.Sqrt(c.Inflation)
	return l.WithDefaults()
}

// Validate returns all faults.
func (c *EnsemblePlusPlus) Validate(p *bandit.Problem) error {
	words := errors.Join(enum.Check[index.Law]("reference", c.Reference),
		enum.Check[index.Law]("perturbation-law", c.Noise))
	sparse := index.LawSparse.String()
	if (c.Reference == sparse || c.Noise == sparse) && c.Size > 0 && (c.Nonzero < 1 || c.Size%c.Nonzero != 0) {
		words = errors.Join(words, fmt.Errorf("nonzero must be a divisor of size, got %d for %d", c.Nonzero, c.Size))
	}
	return faultsOf(c, p, words, c.Check())
}
