package lab

import (
	"cmp"
	"reflect"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Choice is a named value of a key, as policy=ucb names explore.UCB{}. The settings of the value are keys, too:
// policy-quantile is the field Quantile of the policy.
type Choice struct {
	Name  string
	Value any
}

// Policies lists the exploration policies that settings can name.
var Policies = []Choice{
	{"thompson", explore.Thompson{}},
	{"ids", explore.IDS{}},
	{"greedy", explore.Greedy{}},
	{"egreedy", explore.EpsilonGreedy{Anneal: 30}},
	{"ucb", explore.UCB{}},
	{"top-two", explore.TopTwo{}},
	{"squarecb", explore.SquareCB{}},
}

// Optimizers lists the optimizers that settings can name.
var Optimizers = []Choice{
	{"sgd", train.SGD{}},
	{"adam", train.Adam{}},
	{"adamax", train.Adamax{}},
	{"rmsprop", train.RMSProp{}},
	{"momentum", train.Momentum{}},
	{"sgld", train.SGLD{}},
}

// Schedules lists the schedules of step sizes that settings can name.
var Schedules = []Choice{
	{"constant", train.Constant{}},
	{"inverse-root", train.InverseRoot{}},
	{"cosine", train.Cosine{Periods: 1000}},
}

// Losses lists the losses that settings can name.
var Losses = []Choice{
	{"gaussian", train.Gaussian{}},
	{"logistic", train.LogisticLoss{}},
}

// Names returns the names of choices.
func Names(choices []Choice) []string {
	names := make([]string, len(choices))
	for i, c := range choices {
		names[i] = c.Name
	}
	return names
}

// Beliefs lists the beliefs that settings can name. Each is also a learner, like the learners of package learners.
var Beliefs = []Choice{
	{"epinet", hyper.NewEpinet(0)},
	{"last-layer", hyper.NewLastLayer(0)},
	{"ensemble-plus-plus-neural", hyper.NewSharedEnsemble(0)},
	{"network-gp", hyper.NewNetworkGP(0)},
}

// choicesOf lists the values that a field of an interface type can have.
func choicesOf(t reflect.Type) []Choice {
	switch t {
	case reflect.TypeFor[explore.Policy]():
		return Policies
	case reflect.TypeFor[train.Optimizer]():
		return Optimizers
	case reflect.TypeFor[hyper.Belief]():
		return Beliefs
	case reflect.TypeFor[train.Schedule]():
		return Schedules
	case reflect.TypeFor[train.Loss]():
		return Losses
	}
	return nil
}

// KeyOfChoice returns the key for a field of the value of a choice.
func KeyOfChoice(choice, field string) string {
	key := choice + "-" + kebab(field)
	return cmp.Or(named[key], key)
}

// named maps keys of the settings of choices to the names that they have had since the first results.
var named = map[string]string{"policy-n": "policy-samples", "policy-anneal": "anneal"}

// retired maps keys that settings no longer have to the one value that is still supported. Results with this value can
// be read.
var retired = map[string]string{"last-layer": "gradient"}
