package paper

import (
	"testing"

	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Exact minimisers move once in each period, for any number of steps: mu and C of each arm, or the arms of each
// particle, and the counts of the arms; with features also the root of a matrix.
func TestComputationOfExact(t *testing.T) {
	linear, ensemble, sparse := gaussianLinear(), gaussianEnsemble(), sparseEnsemble()
	linear.IndexDim, linear.Steps, linear.Integrate = 4, 3, train.Exact.String()
	ensemble.Particles, ensemble.Steps, ensemble.Integrate = 30, 3, train.Exact.String()
	sparse.Particles, sparse.Integrate = 30, train.Exact.String()
	arms, list := bandit.NewGaussian(), bandit.NewOneSparse()
	arms.Arms, list.Size = 7, 20
	for name, c := range map[string]struct {
		setting lab.Setting
		want    float64
	}{
		"linear":          {lab.Setting{World: arms, Learner: linear}, 7*5 + 7},
		"ensemble":        {lab.Setting{World: arms, Learner: ensemble}, 30*7 + 7},
		"sparse ensemble": {lab.Setting{World: list, Learner: sparse}, 30*20 + 20*20},
	} {
		if err := c.setting.Validate(); err != nil {
			t.Errorf("%s: got error %v, want none", name, err)
		}
		if _, a := c.setting.Build(10); a.Computation() != c.want {
			t.Errorf("%s: computation %v, want %v", name, a.Computation(), c.want)
		}
	}
}
