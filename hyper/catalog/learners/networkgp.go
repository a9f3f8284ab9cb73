package learners

import "github.com/hypermodels/hypermodels/hyper"

// NewNetworkGP returns a Generic whose belief is one network, with the deviations of a Gaussian process around it. An
// SGD step uses one index. Data are not perturbed, because the network is the mean.
func NewNetworkGP() *Generic {
	c := NewGeneric(hyper.NewNetworkGP(0))
	c.Indices, c.Perturbation = 1, 0
	return c
}
