package paper

import (
	"testing"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// The gradient of an ensemble is a mean over particles. A step of sgd is in proportion to it, so that a step-size for each visit of a
// particle is multiplied by the particles visited; other optimizers divide by the gradient's size, and take the step-size as it is.
func TestStepOfAParticle(t *testing.T) {
	for _, c := range []struct {
		optimizer, integrate string
		want                 int
	}{
		{"sgd", string(train.Sampled), 7}, {"sgd", string(train.Analytic), 30}, {"adam", string(train.Sampled), 1}, {"adam", string(train.Analytic), 1},
		{"rmsprop", string(train.Analytic), 1},
	} {
		e := newNeuralEnsemble()
		e.Particles, e.Indices, e.Optimizer, e.Integrate = 30, 7, c.optimizer, c.integrate
		if got := newAgent(e.Model(), e.config(10), "", e.Exploration).visited; got != c.want {
			t.Errorf("%s, %s: step-size times %d, want %d", c.optimizer, c.integrate, got, c.want)
		}
	}
	linear := newNeuralLinear()
	linear.Optimizer = "sgd"
	if got := newAgent(linear.Model(), linear.config(10), "", linear.Exploration).visited; got != 1 {
		t.Errorf("linear: step-size times %d, want 1", got)
	}
}

// An exact minimiser is moved once a period, whatever the steps: mu and C of each arm, or each particle's arms, and the
// arms' counts; with features also the root of a matrix.
func TestComputationOfExact(t *testing.T) {
	linear, ensemble, sparse := newGaussianLinear(), newGaussianEnsemble(), newSparseEnsemble()
	linear.Arms, linear.IndexDim, linear.Steps, linear.Integrate = 7, 4, 3, string(train.Exact)
	ensemble.Arms, ensemble.Particles, ensemble.Steps, ensemble.Integrate = 7, 30, 3, string(train.Exact)
	sparse.Size, sparse.Particles, sparse.Integrate = 20, 30, string(train.Exact)
	for name, c := range map[string]struct {
		setting lab.Setting
		want    float64
	}{"linear": {linear, 7*5 + 7}, "ensemble": {ensemble, 30*7 + 7}, "sparse ensemble": {sparse, 30*20 + 20*20}} {
		if err := c.setting.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, a := c.setting.Build(10); a.Computation() != c.want {
			t.Errorf("%s: computation %v, want %v", name, a.Computation(), c.want)
		}
	}
}
