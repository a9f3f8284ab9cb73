package learners

import (
	"maps"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Known maps the names of the kinds of learners to functions. Each function returns the default settings, for a world
// of arms or for a world of actions with features.
var Known = known()

func known() map[string]func(arms bool) lab.Learner {
	all := map[string]func(arms bool) lab.Learner{}
	for _, b := range lab.Beliefs {
		all[b.Name] = func(bool) lab.Learner { return NewGeneric(b.Value.(hyper.Belief)) }
	}
	maps.Copy(all, map[string]func(arms bool) lab.Learner{
		"linear":             func(arms bool) lab.Learner { return NewLinear(arms) },
		"ensemble":           func(arms bool) lab.Learner { return NewEnsemble(arms) },
		"hypernetwork":       func(arms bool) lab.Learner { return NewHypernetwork(arms) },
		"diagonal":           func(arms bool) lab.Learner { return NewDiagonal(arms) },
		"bbb":                func(arms bool) lab.Learner { return NewMeanField(arms) },
		"dropout":            func(arms bool) lab.Learner { return NewDropout(arms) },
		"egreedy":            func(arms bool) lab.Learner { return NewSingle(arms) },
		"bayesian-linear":    func(arms bool) lab.Learner { return NewBayesianLinear(arms) },
		"ensemble-plus-plus": func(arms bool) lab.Learner { return NewEnsemblePlusPlus(arms) },
		"one-sparse":         func(arms bool) lab.Learner { return NewOneSparse(arms) },

		"ensemble-plus-plus-neural": func(bool) lab.Learner { return NewSharedEnsemble() }, // trained as in its paper
		"network-gp":                func(bool) lab.Learner { return NewNetworkGP() },
	})
	return all
}
