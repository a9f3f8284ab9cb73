package paper

import (
	"maps"

	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/worlds"
)

// Order is the experiments in the order in which the paper presents them. Known has these, and those
// of packages beyond and worlds.
var Order, Known = byName(Gaussian, Frontier, Neural, IDS, AdditivePrior, NoiseSensitivity,
	PriorSensitivity, IndexDimension, PosteriorApproximations)

// byName returns the names of experiments, and the experiments by name: the command lists them and the conformance
// tests run each.
func byName(all ...lab.Experiment) (order []string, known map[string]lab.Experiment) {
	known = maps.Clone(worlds.Known)
	maps.Copy(known, beyond.Known)
	for _, x := range all {
		order = append(order, x.Name)
		known[x.Name] = x
	}
	return order, known
}
