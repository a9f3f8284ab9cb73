// Package beyond holds experiments of the work that came after the paper, one file for each, beside those of package
// paper: worlds, learners with their defaults in them, sizes, and tests of what that work claims. Each claim names its
// source; bounds are ours where a text has none.
package beyond

import "github.com/hypermodels/hypermodels/hyper/lab"

// Name is that of the experiments together, where all their claims are meant.
const Name = "beyond"

// Order is their names.
var Order, Known = byName(LinearBandit, UnknownAction, TestbedBandit, QuadraticBandit)

func byName(all ...lab.Experiment) (order []string, known map[string]lab.Experiment) {
	known = map[string]lab.Experiment{}
	for _, x := range all {
		order = append(order, x.Name)
		known[x.Name] = x
	}
	return order, known
}
