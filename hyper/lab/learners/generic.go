package learners

import (
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Generic is an agent with any belief that can be made for inputs of a number of features: one of lab.Beliefs, whose
// settings are keys. It sees arms as one-hot vectors.
type Generic struct {
	Belief     hyper.Belief `help:"the distribution over functions"`
	Regularize string       `help:"anchor (the paper's), to the start, or decay, to zero"`
	Perturbed
}

// NewGeneric has settings that suit networks.
func NewGeneric(b hyper.Belief) *Generic {
	c := &Generic{Belief: b, Regularize: train.Anchor.String(), Perturbed: perturbed()}
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
	l := filled(c, c.belief(p), p, periods)
	if c.Regularize != train.Anchor.String() {
		l.Train.Regularize = lab.OfWord[train.Regularizer](c.Regularize)
	}
	return l.WithDefaults()
}

// Validate reports everything that is wrong.
func (c *Generic) Validate(p *bandit.Problem) error {
	missing, own := errors.Join(faults.Value("belief", c.Belief), c.checkRegularizer()), error(nil)
	if missing == nil && p != nil {
		own = ofChoice("belief", faults.Of(c.belief(*p)))
	}
	return faultsOf(c, p, missing, own)
}

// checkRegularizer reports a word for a regularizer that these beliefs have not.
func (c *Generic) checkRegularizer() error {
	switch c.Regularize {
	case train.Anchor.String(), train.Decay.String():
		return nil
	}
	return fmt.Errorf("regularize must be %s or %s, got %q", train.Anchor, train.Decay, c.Regularize)
}
