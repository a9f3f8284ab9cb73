package learners_test

import (
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog/learners"
)

// The root of the covariance, times sqrt(Inflation), comes from an A_0 and perturbations that are larger by this
// factor. The variances of the loss, and with them the mean, do not change. A prior variance of 0 means the world's, or
// else 1/d.
func TestEnsemblePlusPlusInflation(t *testing.T) {
	c, p := learners.NewEnsemblePlusPlus(false), bandit.Problem{Actions: 9, Features: 5, PriorVariance: 10}
	c.Inflation = 4
	l := c.Learner(p, 100)
	if l.PriorVariance != 10 || l.InitVariance != 40 || l.Perturbation != 2 || l.NoiseVariance != 1 {
		t.Errorf("%+v", l)
	}
	if p.PriorVariance = 0; c.Learner(p, 100).PriorVariance != 0.2 {
		t.Error(c.Learner(p, 100).PriorVariance)
	}
}

func TestWrongEnsemblePlusPlus(t *testing.T) {
	p := bandit.NewLinear().Problem()
	for want, f := range map[string]func(c *learners.EnsemblePlusPlus){
		"size must be at least 1, got 0":                          func(c *learners.EnsemblePlusPlus) { c.Size = 0 },
		`reference: unknown "ball"; choose one of gaussian, sphe`: func(c *learners.EnsemblePlusPlus) { c.Reference = "ball" },
		"perturbation-law: unknown":                               func(c *learners.EnsemblePlusPlus) { c.Noise = "" },
		"nonzero must be a divisor of size, got 3 for 8": func(c *learners.EnsemblePlusPlus) {
			c.Reference, c.Nonzero = "sparse", 3
		},
		"inflation must be positive": func(c *learners.EnsemblePlusPlus) { c.Inflation = 0 },
	} {
		c := learners.NewEnsemblePlusPlus(false)
		f(c)
		if err := c.Validate(&p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
