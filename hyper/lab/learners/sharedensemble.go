package learners

import (
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// NewSharedEnsemble is an agent with a neural Ensemble++, trained as its paper does (Li et al. 2024): indices along the
// axes, a little perturbation of the data, and weight decay; lambda is 2 over the prior variance. The paper's batch of
// 128 and Adam's step of 1e-4 are for its runs of 10,000 periods and more: here these are the settings of other
// networks.
func NewSharedEnsemble() *Generic {
	c := NewGeneric(hyper.NewSharedEnsemble(0))
	c.IndexSet, c.Perturbation = train.Axes.String(), 0.01
	c.Regularize, c.PriorVariance = train.Decay.String(), 200 // lambda = 0.01
	return c
}
