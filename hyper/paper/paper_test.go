package paper_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// setting returns the default setting of an agent.
func setting(t *testing.T, x lab.Experiment, agent string) *lab.Setting {
	t.Helper()
	s := must.M1(x.New(agent))
	return s
}

// tiny returns a Spec of an experiment with small networks and few steps. All other settings are the defaults.
func tiny(t *testing.T, x lab.Experiment, agents []string, size lab.Size, more ...string) lab.Spec {
	t.Helper()
	sets := more
	if x.Name != "gaussian" {
		sets = append(sets, usable(t, x, agents, more, "actions=6", "features=3", "hidden=4x3", "hyper-hidden=3",
			"generator=2", "size=5",
			"policy-samples=9", "particles=3", "index-dim=2", "batch=8", "index-samples=2", "sgd-steps=2")...)
	}
	spec, err := x.Spec(agents, sets, size, 1)
	if err != nil {
		t.Fatalf("%s: got error %v, want none", x.Name, err)
	}
	return spec
}

// usable returns the sets whose key is not in given and belongs to one of the agents, or to any agent if agents is
// empty.
func usable(t *testing.T, x lab.Experiment, agents, given []string, sets ...string) []string {
	if agents == nil {
		agents = x.Order
	}
	used := map[string]bool{}
	for _, agent := range agents {
		for key, value := range catalog.Values(setting(t, x, agent)) {
			used[key] = used[key] || value != "none" // hidden=none must stay: a small network is not a linear model
		}
	}
	return slices.DeleteFunc(slices.Clone(sets), func(set string) bool {
		key, _, _ := strings.Cut(set, "=")
		return !used[key] || slices.ContainsFunc(given, func(set string) bool { return strings.HasPrefix(set, key+"=") })
	})
}

// Every agent of every experiment runs with small networks and otherwise default settings, and no run diverges.
func TestEveryAgentRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("TestGolden runs all agents, with settings that it records")
	}
	for _, name := range paper.Order {
		spec := tiny(t, paper.Known[name], nil, lab.Size{Periods: 12, Runs: 2})
		h, rows := must.M2(lab.Simulate(t.Context(), spec, paper.Known, lab.Options{Backend: backend.Go, BatchRuns: 64}))
		for _, c := range analysis.Curves(h, rows) {
			if c.Diverged > 0 || c.Runs != 2 || c.Mean[len(c.Mean)-1] <= 0 {
				t.Errorf("%s, %s: got %d runs, %d diverged, regret %v, want 2 and 0", name, c.Agent, c.Runs, c.Diverged, c.Mean)
			}
		}
	}
}

// The defaults of every agent are valid, and so are the sets of values of its experiment.
func TestDefaultsAreValid(t *testing.T) {
	for _, name := range paper.Order {
		x := paper.Known[name]
		for _, size := range []lab.Size{x.Quick, x.Full} {
			if _, err := x.Spec(nil, nil, size, 1); err != nil {
				t.Errorf("%s: got error %v, want none", name, err)
			}
		}
		if len(x.Order) != len(x.Agents) {
			t.Errorf("%s: %d agents in the order of %d", name, len(x.Order), len(x.Agents))
		}
		for agent := range x.Agents {
			if err := setting(t, x, agent).Validate(); err != nil {
				t.Errorf("%s, %s: got error %v, want none", name, agent, err)
			}
		}
	}
}

// A Spec does not change when it is written as JSON and read again, and every key has a help text.
func TestSpecsRoundTrip(t *testing.T) {
	for _, name := range paper.Order {
		x := paper.Known[name]
		sets := []string{"actions=3,4"}
		if other, ok := map[string]string{"gaussian": "arms=3,4", "frontier": "arms=3,4", "ids": "size=3,4"}[name]; ok {
			sets = []string{other}
		}
		spec := must.M1(x.Spec(nil, sets, x.Quick, 5))
		text := must.M1(json.Marshal(spec))
		back, err := lab.ParseSpec(text, paper.Known)
		if again, _ := json.Marshal(back); err != nil || string(again) != string(text) {
			t.Errorf("%s: got error %v, first and second JSON\n%s\n%s", name, err, text, again)
		}
		for agent := range x.Agents {
			for _, k := range catalog.Keys(setting(t, x, agent)) {
				if k.Help == "" || k.Kind == "" {
					t.Errorf("%s, %s: key %q has kind %q and help %q, want both", name, agent, k.Name, k.Kind, k.Help)
				}
			}
		}
	}
}

// The paper's measure of computation, computed by hand: n_sgd n_z n_data n_params, section 4.1.
func TestComputation(t *testing.T) {
	for _, c := range []struct {
		agent string
		sets  []string
		want  float64
	}{
		{"exact", nil, 0},
		{"linear", []string{"arms=100", "index-dim=30", "batch=1024", "index-samples=16", "sgd-steps=2"},
			2 * 16 * 1024 * 100 * 31},
		{"linear", []string{"arms=100", "index-dim=30", "batch=1024", "integrate=analytic"}, 1024 * 100 * 31},
		{"ensemble", []string{"arms=100", "particles=50", "batch=1024", "index-samples=16", "integrate=sampled"},
			16 * 1024 * 100},
		{"ensemble", []string{"arms=100", "particles=50", "batch=1024"}, 50 * 1024 * 100},
	} {
		spec := must.M1(paper.Gaussian.Spec([]string{c.agent}, c.sets, lab.Size{Periods: 1, Runs: 1}, 0))
		if _, agent := spec.Entries[0].Setting.Build(1); agent.Computation() != c.want {
			t.Errorf("%s %v: computation %v, want %v", c.agent, c.sets, agent.Computation(), c.want)
		}
	}
}

// Claims have unique names, and judge the results of a simulator, here with artificial regrets.
func TestClaimsJudge(t *testing.T) {
	for _, name := range paper.Order {
		x := paper.Known[name]
		var names []string
		for _, claim := range paper.Claims[name] {
			names = append(names, claim.Name)
			if name == "frontier" { // see TestFrontierClaims: its claims compare computation, not regret
				continue
			}
			// The first agent does far better, far worse, or equally well. Claims of similar regret want the last.
			for factor, want := range map[float64]study.Verdict{1e-3: study.Reproduced, 1e3: study.Refuted,
				1: study.Reproduced} {
				f, err := claim.Test(madeUp(x, factor), claim.Quick)
				if err != nil {
					t.Fatalf("%s, claim %s: got error %v, want none", name, claim.Name, err)
				}
				alike := !math.IsInf(f.Claimed.Above, -1)
				if alike && factor != 1 {
					want = study.Refuted
				}
				if f.Verdict != want && (alike || factor != 1) {
					t.Errorf("%s, claim %s: %s at factor %v, want %s", name, claim.Name, f.Verdict, factor, want)
				}
			}
		}
		slices.Sort(names)
		if len(slices.Compact(names)) != len(paper.Claims[name]) || len(names) == 0 {
			t.Errorf("%s: two claims have the same name, or there are no claims", name)
		}
	}
}

// madeUp returns a simulator with artificial regrets of about 100 at the last period: multiplied by factor in the first
// call, unchanged in later calls.
func madeUp(x lab.Experiment, factor float64) study.Simulator {
	return func(agents, sets []string, size lab.Size) (lab.Header, []lab.Row, error) {
		spec, err := x.Spec(agents, sets, size, 0)
		if err != nil {
			return lab.Header{}, nil, fmt.Errorf("the claim's settings: %w", err)
		}
		var rows []lab.Row
		for run := range size.Runs {
			regret := factor * (100 + float64(run%7))
			rows = append(rows, lab.Row{Run: run, Seed: uint64(run), Period: size.Periods, Regret: stats.Float(regret)})
		}
		factor = 1
		return lab.Header{Spec: spec}, rows, nil
	}
}

// Every policy runs in the loop that XLA compiles, which does not support every operation of GoMLX. Its regret equals
// that of the backend go. Rounding could decide between two actions, but does not here.
func TestPoliciesInALoop(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program for each policy")
	}
	if backend.Check(backend.XLACPU) != nil {
		t.Skip("no XLA plugin; `go run ./kernels setup` installs it")
	}
	sets := []string{"arms=4", "index-dim=2", "integrate=analytic", "policy-samples=20",
		"policy=" + strings.Join(catalog.Names(catalog.Policies()), ",")}
	spec := must.M1(paper.Gaussian.Spec([]string{"linear"}, sets, lab.Size{Periods: 20, Runs: 4}, 1))
	var regrets [2][]float64
	for i, name := range []string{backend.Go, backend.XLACPU} {
		h, rows := must.M2(lab.Simulate(t.Context(), spec, paper.Known, lab.Options{Backend: name}))
		for _, c := range analysis.Curves(h, rows) {
			regrets[i] = append(regrets[i], math.Round(float64(c.Mean[len(c.Mean)-1])*1e3))
		}
	}
	if !slices.Equal(regrets[0], regrets[1]) || len(regrets[0]) != len(catalog.Names(catalog.Policies())) {
		t.Errorf("regret by policy, in thousandths: got %v on go and %v on xla:cpu", regrets[0], regrets[1])
	}
}
