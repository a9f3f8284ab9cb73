package lab

import (
	"cmp"
	"reflect"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Choice is a value that a key can name, as policy=ucb names explore.UCB{}. The settings of the value are keys, too:
// policy-quantile is its Quantile.
type Choice struct {
	Name  string
	Value any
}

// Policies are the exploration policies that settings can name.
var Policies = []Choice{
	{"thompson", explore.Thompson{}},
	{"ids", explore.IDS{}},
	{"greedy", explore.Greedy{}},
	{"egreedy", explore.EpsilonGreedy{Anneal: 30}},
	{"ucb", explore.UCB{}},
	{"top-two", explore.TopTwo{}},
	{"squarecb", explore.SquareCB{}},
}

// Optimizers are those that settings can name.
var Optimizers = []Choice{
	{"sgd", train.SGD{}},
	{"adam", train.Adam{}},
	{"adamax", train.Adamax{}},
	{"rmsprop", train.RMSProp{}},
	{"momentum", train.Momentum{}},
	{"sgld", train.SGLD{}},
}

// Schedules are those of steps that settings can name.
var Schedules = []Choice{
	{"constant", train.Constant{}},
	{"inverse-root", train.InverseRoot{}},
	{"cosine", train.Cosine{Periods: 1000}},
}

// Losses are those that settings can name.
var Losses = []Choice{
	{"gaussian", train.Gaussian{}},
	{"logistic", train.LogisticLoss{}},
}

// Names are those of choices.
func Names(choices []Choice) []string {
	names := make([]string, len(choices))
	for i, c := range choices {
		names[i] = c.Name
	}
	return names
}

// Beliefs are those that settings can name, each a learner of its own, beside those of package learners.
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

// KeyOfChoice is the key of a field of the value that a choice has.
func KeyOfChoice(choice, field string) string {
	key := choice + "-" + kebab(field)
	return cmp.Or(named[key], key)
}

// named are keys of choices' settings that have had another name since the first results.
var named = map[string]string{"policy-n": "policy-samples", "policy-anneal": "anneal"}

// retired are keys that settings had once, with the value that they have now for all: results that have them are read.
var retired = map[string]string{"last-layer": "gradient"}
