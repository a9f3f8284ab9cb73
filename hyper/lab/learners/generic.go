package learners

import (
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/learner"
)

// Generic is an agent with any belief that can be made for inputs of a number of features: one of lab.Beliefs, whose
// settings are keys. It sees arms as one-hot vectors.
type Generic struct {
	Belief hyper.Belief `help:"the distribution over functions"`
	Perturbed
}

// NewGeneric has settings that suit networks.
func NewGeneric(b hyper.Belief) *Generic {
	c := &Generic{Belief: b, Perturbed: perturbed()}
	c.StepSize, c.PriorVariance = 0.005, 10
	return c
}

// network stands for a base model that sees features.
var network = Net{Hidden: []int{1}}

func (c *Generic) belief(p bandit.Problem) hyper.Belief {
	if b, ok := c.Belief.(hyper.Sized); ok {
		return b.ForInputs(network.features(p))
	}
	return c.Belief
}

// Learner returns the learner.
func (c *Generic) Learner(p bandit.Problem, periods int) learner.Learner {
	return filled(c, c.belief(p), p, periods).WithDefaults()
}

// Validate reports everything that is wrong.
func (c *Generic) Validate(p *bandit.Problem) error {
	missing, own := faults.Value("belief", c.Belief), error(nil)
	if missing == nil && p != nil {
		own = ofChoice("belief", faults.Of(c.belief(*p)))
	}
	return faultsOf(c, p, missing, own)
}
