package learners_test

import (
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog/learners"
)

// The key discount reaches the training, and an invalid value is refused.
func TestDiscount(t *testing.T) {
	p := bandit.NewGaussian().Problem()
	c := learners.NewBayesianLinear(true)
	c.Discount = 0.98
	if err := c.Validate(&p); err != nil || c.Learner(p, 10).Train.Discount != 0.98 {
		t.Error(err, c.Learner(p, 10).Train.Discount)
	}
	c.Discount = 1.5
	if err := c.Validate(&p); err == nil || !strings.Contains(strings.ToLower(err.Error()), "discount must be above 0.5") {
		t.Error(err)
	}
}
