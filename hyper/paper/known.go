package paper

import "github.com/hypermodels/hypermodels/hyper/lab"

// Order is the experiments in the order in which the paper presents them.
var Order, Known = byName(Gaussian, Frontier, Neural, AdditivePrior, NoiseSensitivity, PriorSensitivity, IndexDimension, PosteriorApproximations, IDS)

// byName returns the names of experiments, and the experiments by name: the command lists them and the conformance tests run each.
func byName(all ...lab.Experiment) (order []string, known map[string]lab.Experiment) {
	known = map[string]lab.Experiment{}
	for _, x := range all {
		order = append(order, x.Name)
		known[x.Name] = x
	}
	return order, known
}
