package learners

import (
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// NewSharedEnsemble returns the settings of an agent with a neural Ensemble++, trained as in its paper (Li et al.
// 2024): indices along the axes, a small perturbation of the data, and weight decay, where lambda is 2 divided by the
// prior variance. The paper's batch of 128 and Adam step size of 1e-4 are for its runs of 10,000 and more periods. Here
// these settings have the values of other networks.
func NewSharedEnsemble() *Generic {
	c := NewGeneric(hyper.NewSharedEnsemble(0))
	c.IndexSet, c.Perturbation = train.Axes.String(), 0.01
	c.Regularize, c.PriorVariance = train.Decay.String(), 200 // lambda = 0.01
	return c
}
