package paper

import "github.com/hypermodels/hypermodels/hyper/lab"

// Known are the experiments by name; the command lists them and the conformance tests run each.
var Known = map[string]lab.Experiment{Gaussian.Name: Gaussian}

// Order is the order in which the paper presents them.
var Order = []string{Gaussian.Name}
