package paper

import (
	"maps"

	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Order lists the names of the paper's experiments in the order of the paper. Known maps names to these
// experiments and to the experiments of package beyond.
var Order, Known = byName(Gaussian, Frontier, Neural, IDS, AdditivePrior, NoiseSensitivity,
	PriorSensitivity, IndexDimension, PosteriorApproximations)

// byName returns the names of experiments, and the experiments by name.
func byName(all ...lab.Experiment) (order []string, known map[string]lab.Experiment) {
	known = maps.Clone(beyond.Known)
	for _, x := range all {
		order = append(order, x.Name)
		known[x.Name] = x
	}
	return order, known
}
