package learners_test

import (
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog"
)

// Faults of every part of a learner name keys, which --set changes, and not fields of Go.
func TestFaultsNameKeys(t *testing.T) {
	p := bandit.Problem{Actions: 3, Features: 4}
	for want, sets := range map[string]string{
		"batch must be at least 1, got 0":                              "ensemble batch=0",
		"optimizer-beta1 must be in [0, 1), got 2":                     "ensemble optimizer=adam optimizer-beta1=2",
		"schedule-periods must be positive and finite, got -1":         "ensemble schedule=cosine schedule-periods=-1",
		"policy-quantile must be in (0, 1]":                            "ensemble policy=ucb policy-quantile=2",
		"policy-samples must be at least 2":                            "ensemble policy=top-two policy-samples=1",
		"anneal must be finite and not negative":                       "egreedy anneal=-1",
		"belief-dim must be at least 1, got 0":                         "epinet belief-dim=0",
		"belief-hidden needs a layer":                                  "last-layer belief-hidden=none",
		"index-set frame needs an even number of index-samples, got 3": "linear index-set=frame index-samples=3",
		"integrate exact needs a quadratic loss":                       "ensemble hidden=none integrate=exact loss=logistic",
		"integrate analytic does not support weights":                  "linear hidden=none integrate=analytic weights=exponential",
		"standardize-rewards needs a quadratic loss":                   "ensemble standardize-rewards=yes loss=logistic",
		"standardize-rewards cannot change the responses":              "linear integrate=full-data standardize-rewards=yes",
	} {
		words := strings.Fields(sets)
		c := must.M1(catalog.Find(words[0]))(false)
		for _, set := range words[1:] {
			key, value, _ := strings.Cut(set, "=")
			must.M(catalog.Set(c, key, value))
		}
		if err := c.Validate(&p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", sets, err, want)
		}
	}
}
