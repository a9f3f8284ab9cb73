package paper_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// Settings of exploration are checked like all others: an impossible value gives one error, for every agent that has
// the key.
func TestExplorationSettingsAreRefused(t *testing.T) {
	policies := strings.Join(catalog.Names(catalog.Policies()), ", ")
	for _, name := range []string{"gaussian", "neural", "posterior-approximations", "ids"} {
		x := paper.Known[name]
		tested := 0
		for _, agent := range x.Order {
			if !catalog.HasKey(setting(t, x, agent), "policy") {
				continue
			}
			tested++
			for set, want := range map[string]string{
				"policy=magic": `policy=magic: want one of ` + policies,
				"policy=IDS":   `policy=IDS: want one of`,
				"policy-samples=-1": "policy-samples, the number of functions for a decision (0 means the " +
					"default), must be at least 1, got -1",
				"policy-samples=1.5":               "want a whole number",
				"policy=ids;anneal=3":              `key "anneal" needs policy=egreedy`,
				"policy=egreedy;anneal=-3":         "anneal must be finite and not negative, got -3",
				"policy=top-two;policy-samples=1":  "policy-samples must be at least 2, or 0 for 30, got 1",
				"policy=ids;policy-samples=1":      "",
				"policy=top-two;policy-samples=2":  "",
				"policy=greedy;policy-samples=300": "",
			} {
				c := setting(t, x, agent)
				var err error
				for _, one := range strings.Split(set, ";") {
					key, value, _ := strings.Cut(one, "=")
					err = errors.Join(err, catalog.Set(c, key, value))
				}
				if err == nil {
					err = c.Validate()
				}
				if (err == nil) != (want == "") || err != nil && strings.Count(err.Error(), want) != 1 {
					t.Errorf("%s, %s, %s: error %v, want %q", name, agent, set, err, want)
				}
				if faults := 1 + strings.Count(set, "magic;"); err != nil && strings.Count(err.Error(), "\n") != faults-1 {
					t.Errorf("%s, %s, %s: want %d faults, got %v", name, agent, set, faults, err)
				}
			}
		}
		if tested < 2 {
			t.Errorf("%s: %d agents have a key policy, want at least 2", name, tested)
		}
	}
}

// An impossible setting of section 5 is refused, with one reason, before anything is compiled.
func TestSparseSettingsAreRefused(t *testing.T) {
	before := lab.Compilations()
	for _, agent := range paper.IDS.Order {
		for set, want := range map[string]string{
			"size=1":            "size must be at least 2, got 1",
			"size=0":            "size must be at least 2, got 0",
			"noise-variance=0":  "noise-variance must be positive and finite, got 0",
			"noise-variance=-1": "noise-variance must be positive and finite, got -1",
			"noise-factor=-1":   "noise-factor must be finite and not negative, got -1",
			"prior-factor=0":    "prior-factor must be positive and finite, got 0",
			"alpha=-1":          "alpha must be finite and not negative, got -1",
			"beta=0":            "beta must be positive and finite, got 0",
			"beta=-10":          "beta must be positive and finite, got -10",
			"index-dim=0":       "index-dim must be at least 1, got 0",
			"particles=0":       "particles must be at least 1, got 0",
			"step-size=0":       "step-size must be positive and finite, got 0",
			"perturbation=-1":   "perturbation must be finite and not negative, got -1",
			"noise-factor=0":    "",
			"alpha=0":           "",
		} {
			key, _, _ := strings.Cut(set, "=")
			if !catalog.HasKey(setting(t, paper.IDS, agent), key) {
				continue
			}
			_, err := paper.IDS.Spec([]string{agent}, []string{set}, lab.Size{Periods: 5, Runs: 1}, 1)
			if (err == nil) != (want == "") || err != nil && (strings.Count(err.Error(), want) != 1 ||
				strings.Contains(err.Error(), "\n")) {
				t.Errorf("%s, %s: error %v, want %q", agent, set, err, want)
			}
		}
	}
	_, err := paper.IDS.Spec([]string{"ids"}, []string{"size=1", "noise-variance=0", "alpha=-1", "beta=0", "policy=magic"},
		lab.Size{Periods: 5, Runs: 1}, 1)
	for _, want := range []string{"size", "noise-variance", "policy=magic"} { // faults of the model come later
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want also %q", err, want)
		}
	}
	if n := lab.Compilations() - before; n != 0 {
		t.Errorf("%d programs were compiled, want none", n)
	}
}
