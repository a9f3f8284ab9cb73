package learners

import (
	"cmp"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// BayesianLinear is an agent with the exact posterior of Bayesian linear regression on random cosines of the features.
// In a world whose actions share a context, it has one regression for each action. It gets arms as one-hot vectors.
type BayesianLinear struct {
	Waves    int     `help:"number of random cosines of the features; 0 means a linear function"`
	Length   float64 `help:"length scale of the cosines, times the root of the number of features"`
	Line     bool    `help:"yes: also a linear model, weighted by its posterior probability against the cosines"`
	Discount float64 `help:"factor of the weights of old data at each new datum, for changing worlds; 1: no discount"`

	Standardize bool `key:"standardize-rewards" help:"standardise rewards by their mean and standard deviation so far"`
	Variances
	Inflation float64 `run:"true" want:"not negative" help:"factor of each model's posterior variance for the policy"`
	Exploration

	Plain bool // use the features as they are, without an intercept; Waves must be 0
}

// NewBayesianLinear returns settings that suit classification as a bandit, see notebooks/results/contextual.
func NewBayesianLinear(arms bool) *BayesianLinear {
	c := &BayesianLinear{Waves: 200, Length: 1, Line: true, Standardize: true, Discount: 1,
		Variances: Variances{NoiseVariance: 0.1},
		Inflation: 1, Exploration: Exploration{explore.UCB{Quantile: 0.84}}}
	if arms {
		c.Waves = 0
	}
	return c
}

func (c *BayesianLinear) belief(p bandit.Problem) hyper.BayesianLinear {
	return hyper.BayesianLinear{
		Features: network.features(p), Blocks: p.Blocks, Numbered: p.Numbered, Waves: c.Waves, Length: c.Length,
		Plain: c.Plain, Line: c.Line && c.Waves > 0,
	}
}

// Learner returns the learner for a problem.
func (c *BayesianLinear) Learner(p bandit.Problem, periods int) learner.Learner {
	b := c.belief(p)
	l := filled(b, p, periods, c.Variances, c.Exploration)
	l.Train = train.Config{Integrate: train.Exact, Standardize: c.Standardize, Discount: c.Discount}
	if l.PriorVariance = cmp.Or(c.PriorVariance, p.PriorVariance); l.PriorVariance == 0 || c.Standardize {
		l.PriorVariance = cmp.Or(c.PriorVariance, b.UnitVariance())
	}
	l.InitVariance = orNone(l.PriorVariance * c.Inflation)
	return l.WithDefaults()
}

// Validate returns all faults.
func (c *BayesianLinear) Validate(p *bandit.Problem) error {
	if p == nil {
		return faultsOf(c, p, faults.AtLeast("waves", c.Waves, 0), faults.Positive("length", c.Length), c.Check())
	}
	return faultsOf(c, p, c.Check())
}
