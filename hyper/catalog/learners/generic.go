package learners

import (
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Generic is an agent with any of the beliefs of package catalog, which can be made for inputs with any number of
// features. The settings of the belief are keys. The agent gets arms as one-hot vectors.
type Generic struct {
	Belief     hyper.Belief `help:"the distribution over functions"`
	Regularize string       `help:"pull of parameters: anchor (the paper's, to initial values) or decay (to zero)"`
	Perturbed
}

// NewGeneric returns settings that suit networks.
func NewGeneric(b hyper.Belief) *Generic {
	c := &Generic{Belief: b, Regularize: train.Anchor.String(), Perturbed: perturbed()}
	c.StepSize, c.PriorVariance = 0.005, 10
	return c
}

// network is a base model that gets features, for its method features.
var network = Net{Hidden: []int{1}}

func (c *Generic) belief(p bandit.Problem) hyper.Belief {
	if b, ok := c.Belief.(hyper.Sized); ok {
		return b.ForInputs(network.features(p))
	}
	return c.Belief
}

// Learner returns the learner for a problem.
func (c *Generic) Learner(p bandit.Problem, periods int) learner.Learner {
	l := filled(c.belief(p), p, periods, c.Perturbed)
	if c.Regularize != train.Anchor.String() {
		l.Train.Regularize = enum.Of[train.Regularizer](c.Regularize)
	}
	return l.WithDefaults()
}

// Validate returns all faults.
func (c *Generic) Validate(p *bandit.Problem) error {
	missing, own := errors.Join(faults.Value("belief", c.Belief), c.checkRegularizer()), error(nil)
	if missing == nil && p != nil {
		own = ofChoice("belief", c.Belief, faults.Of(c.belief(*p)))
	}
	return faultsOf(c, p, missing, own, c.check())
}

// checkRegularizer returns an error if these beliefs do not have the regularizer.
func (c *Generic) checkRegularizer() error {
	switch c.Regularize {
	case train.Anchor.String(), train.Decay.String():
		return nil
	}
	return fmt.Errorf("regularize must be %s or %s, got %q", train.Anchor, train.Decay, c.Regularize)
}
