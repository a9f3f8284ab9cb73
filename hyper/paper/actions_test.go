package paper_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/catalog/learners"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

var allActions = flag.Bool("actions.all", false, "check the actions of all recorded settings, not of a part")

// little has settings that reduce an agent's computation but keep all of its parts.
var little = []string{"arms=5", "actions=20", "features=6", "hidden=5x4", "hyper-hidden=4", "size=8", "particles=4",
	"index-dim=2", "batch=16", "index-samples=4", "sgd-steps=2"}

// variations has settings for one agent of each kind, one at a time, if the agent accepts the key.
var variations = []string{
	"integrate=sampled", "integrate=analytic", "integrate=full-data", "integrate=exact",
	"policy=thompson", "policy=ids", "policy=greedy", "policy=egreedy", "policy=ucb", "policy=top-two",
	"optimizer=sgd", "optimizer=adam", "optimizer=adamax", "optimizer=rmsprop",
	"index-set=iid", "index-set=antithetic", "index-set=frame",
	"clip=0.1", "sgd-steps=9", "additive-prior=no", "map-step=0.5", "perturbation=0.5", "noise-variance=0.5",
	"prior-multiplier=3", "noise=0", "kl-strength=1", "prior-factor=0.01",
}

// actionSpecs returns a Spec for each experiment. It has all agents with their defaults, and then the variations of
// agents with types of settings that no earlier agent has. Some entries occur twice.
func actionSpecs(t *testing.T) (specs []lab.Spec) {
	size, varied := lab.Size{Periods: 200, Runs: 3}, map[string]bool{}
	for _, name := range paper.Order {
		x := paper.Known[name]
		spec := must.M1(x.Spec(nil, usable(t, x, nil, nil, little...), size, 1))
		for _, e := range slices.Clone(spec.Entries) {
			kind, agent := fmt.Sprintf("%s %T", name, e.Setting.Learner), []string{e.Agent}
			if varied[kind] {
				continue
			}
			for _, set := range variations {
				sets := append(usable(t, x, agent, []string{set}, little...), set)
				if one, err := x.Spec(agent, sets, size, 1); err == nil {
					spec.Entries = append(spec.Entries, one.Entries...)
				}
			}
			varied[kind] = true
		}
		specs = append(specs, spec)
	}
	return specs
}

// part returns the entries with a kind of learner, or on the backend go with an unusual value of a setting, that no
// entry of the backend in shown has. TestGolden has all agents with their usual settings. On XLA part omits the
// one-sparse hypermodel: its softmax enlarges rounding errors, so that other vector widths than AVX-512's give other
// actions. On the backend go a part has the first run of each entry.
func (g golden) part(shown map[string]bool) golden {
	some := g
	some.Spec.Entries, some.Digests = nil, nil
	if g.Backend == backend.Go {
		some.Spec.Runs = 1
	}
	for i, e := range g.Spec.Entries {
		if _, sparse := e.Setting.Learner.(*learners.OneSparse); sparse && g.Backend != backend.Go {
			continue
		}
		shows := []string{fmt.Sprintf("%T", e.Setting.Learner)}
		if g.Backend == backend.Go {
			shows = append(shows, unusual(e)...)
		}
		isNew := false
		for _, what := range shows {
			isNew = isNew || !shown[g.Backend+what]
			shown[g.Backend+what] = true
		}
		if isNew {
			some.Spec.Entries, some.Digests = append(some.Spec.Entries, e), append(some.Digests, g.Digests[i][:some.Spec.Runs])
		}
	}
	return some
}

// name returns the line's backend and experiment.
func (g golden) name() string { return g.Backend + " " + g.Spec.Experiment }

// whole returns an entry as text.
func whole(t *testing.T, e lab.Entry) string {
	text := must.M1(json.Marshal(e))
	return string(text)
}

// Each kind of agent acts as recorded, with every integration, policy, optimizer and set of indices, and on both
// backends. If the test fails, see TestGolden. -actions.all checks all entries, for processors with AVX-512. -update
// adds missing entries.
func TestActions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds; TestGolden has all agents")
	}
	path, lines := readGolden(t, "actions")
	seen, shown := map[string]bool{}, map[string]bool{}
	t.Run("recorded", func(t *testing.T) {
		for _, g := range lines {
			for _, e := range g.Spec.Entries {
				seen[g.name()+e.Agent], seen[g.name()+whole(t, e)] = true, true
			}
			if !*allActions {
				g = g.part(shown)
			}
			t.Run(g.name(), func(t *testing.T) {
				if len(g.Spec.Entries) == 0 {
					return // other experiments show the same
				}
				if err := backend.Check(g.Backend); err != nil {
					t.Skip(err)
				}
				t.Parallel()
				t.Logf("%d entries", len(g.Spec.Entries))
				g.check(t)
			})
		}
	})
	var missing []golden
	specs := actionSpecs(t)
	for _, on := range []string{backend.Go, backend.XLACPU} {
		for _, spec := range specs {
			g := golden{Backend: on, Spec: spec}
			g.Spec.Entries = slices.DeleteFunc(slices.Clone(spec.Entries), func(e lab.Entry) bool {
				if !seen[g.name()+e.Agent] && !*update {
					t.Errorf("%s: there are no digests for %s; -update adds them", g.name(), e.Agent)
				}
				key := g.name() + whole(t, e)
				before := seen[key]
				seen[key] = true
				return before
			})
			if len(g.Spec.Entries) > 0 && backend.Check(on) == nil {
				missing = append(missing, g)
			}
		}
	}
	if *update && !t.Failed() {
		record(t, path, missing)
	}
}
