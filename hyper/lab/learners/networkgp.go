package learners

import "github.com/hypermodels/hypermodels/hyper"

// NewNetworkGP is a Generic with one network and the deviations of a Gaussian process about it: a step sees one index,
// and data are not perturbed, since the network is a mean.
func NewNetworkGP() *Generic {
	c := NewGeneric(hyper.NewNetworkGP(0))
	c.Indices, c.Perturbation = 1, 0
	return c
}
