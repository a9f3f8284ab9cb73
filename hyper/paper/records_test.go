package paper_test

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/tune"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// searches returns the records of the searches in a folder of notebooks/results/tuning, by name. The folder "equal" has
// first searches, and second searches "NAME-2"; the folder "best" has searches that judge by 100,000 periods.
func searches(t *testing.T, folder string) map[string]tune.Search {
	t.Helper()
	out := map[string]tune.Search{}
	for _, file := range must.M1(filepath.Glob("../../notebooks/results/tuning/" + folder + "/*.json")) {
		out[strings.TrimSuffix(filepath.Base(file), ".json")] = must.M1(tune.ReadSearch(file))
	}
	if len(out) == 0 {
		t.Fatalf("folder %s has no records", folder)
	}
	return out
}

// The budgets of the searches in the folder "equal" are equal within 5%. Rounds have 16 runs or more on the same seeds.
// A search records the distance of each candidate from the winner, with an error. Each agent has two searches; the last
// round of the second includes the winner of the first.
func TestSearchesHaveEqualBudgets(t *testing.T) {
	all := searches(t, "equal")
	if len(all) < 30 {
		t.Fatalf("%d records, want two of each of 10 agents or more", len(all))
	}
	for name, record := range all {
		like := all["linear-1000"]
		if first, second := strings.CutSuffix(name, "-2"); second {
			like = all["linear-1000-2"]
			if champion := all[first].Best(); len(champion) == 0 || !slices.Equal(record.Champion, champion) {
				t.Errorf("%s: champion %v, want %v", name, record.Champion, champion)
			}
		} else if _, ok := all[name+"-2"]; !ok {
			t.Errorf("agent %s has no second search", name)
		}
		if a, b := budget(record), budget(like); math.Abs(float64(a-b)) > 0.05*float64(b) {
			t.Errorf("%s: got a budget of %d run-periods, want about the linear hypermodel's %d", name, a, b)
		}
		if record.Seed != like.Seed || len(record.Rungs) != len(record.Plan) {
			t.Errorf("%s: got seed %d and %d of %d rounds", name, record.Seed, len(record.Rungs), len(record.Plan))
		}
		for _, r := range record.Rungs {
			checkRound(t, name, r)
		}
	}
}

// budget returns the number of run-periods of a search.
func budget(record tune.Search) (n int) {
	for _, r := range record.Rungs {
		n += len(r.Results) * r.Size.Runs * r.Size.Periods
	}
	return n
}

func checkRound(t *testing.T, name string, r tune.Rung) {
	t.Helper()
	if r.Size.Runs < 16 {
		t.Errorf("%s: got a round of %d runs, want at least 16", name, r.Size.Runs)
	}
	for _, o := range r.Results[1:] {
		if o.Diverged == 0 && !(o.Behind >= 0 && o.BehindSE > 0) {
			t.Errorf("%s: %v is behind by %v ± %v, want a distance with an error",
				name, o.Settings, o.Behind, o.BehindSE)
		}
	}
}

// If the settings that a search held fixed, such as the number of actions, are given, an agent of section 4.2 or
// appendices B to E has the settings of the winner. That is the winner of the agent's second search in the folder
// "equal", or, in long runs of section 4.2, of the search in the folder "best", if there is one. The ensemble of 300
// has the settings of 100. The ensemble of 10 has the settings of a later search, in the folder "again", unless it is
// given a policy.
func TestDefaultsAreTheWinners(t *testing.T) {
	for name, record := range searches(t, "best") {
		if name == "ensemble-10-1000" {
			later := searches(t, "again")["ensemble-10-exploring-1000"]
			checkDefaults(t, "again/"+name, unfixed(later, record.Sets), 20_000, paper.Neural)
			record.Sets = append(record.Sets, "policy=thompson")
		}
		checkDefaults(t, name, record, 20_000, paper.Neural)
	}
	for name, record := range searches(t, "equal") {
		if !strings.HasSuffix(name, "-2") {
			continue
		}
		experiments := []lab.Experiment{paper.Neural}
		if record.Experiment == paper.AdditivePrior.Name {
			experiments = []lab.Experiment{paper.AdditivePrior}
		} else if slices.Contains(record.Sets, "index-samples=4") {
			experiments = append(experiments, paper.PosteriorApproximations)
		} else if record.Agent == "linear" {
			experiments = append(experiments, paper.NoiseSensitivity, paper.PriorSensitivity, paper.IndexDimension)
		}
		checkDefaults(t, name, record, 19_999, experiments...)
	}
}

// unfixed returns a search as if it had fixed only the given settings, and had found the others.
func unfixed(s tune.Search, sets []string) tune.Search {
	best := s.Rungs[len(s.Rungs)-1].Results[0].Settings
	for _, set := range s.Sets {
		if key, value, _ := strings.Cut(set, "="); !slices.Contains(sets, set) {
			best[key] = value
		}
	}
	s.Sets = sets
	return s
}

// checkDefaults compares an agent's defaults, in experiments with a number of periods, to the winner of a record.
func checkDefaults(t *testing.T, name string, record tune.Search, periods int, experiments ...lab.Experiment) {
	t.Helper()
	plain := paper.Known[record.Experiment]
	plain.Tuned = nil
	size := lab.Size{Periods: periods, Runs: 1}
	spec, err := plain.Spec([]string{record.Agent}, slices.Concat(record.Sets, record.Best()), size, 0)
	if err != nil {
		t.Errorf("%s: got error %v, want none", name, err)
		return
	}
	want := catalog.Values(spec.Entries[0].Setting)
	for _, particles := range []string{"", "particles=300"} {
		sets := slices.Clone(record.Sets)
		if particles != "" {
			if !slices.Contains(sets, "particles=100") {
				continue
			}
			sets[slices.Index(sets, "particles=100")], want["particles"] = particles, 300
		}
		for _, x := range experiments {
			sets := slices.Concat(sets, swept(x, sets, want))
			got := catalog.Values(must.M1(x.Spec([]string{record.Agent}, sets, size, 0)).Entries[0].Setting)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: in %s, %s with %v has the settings %v, and the record's winner %v", name, x.Name,
					record.Agent, sets, got, want)
			}
		}
	}
}

// swept returns the settings that an experiment varies and that sets does not have, each with the search's value.
func swept(x lab.Experiment, sets []string, values map[string]any) (out []string) {
	for _, varied := range x.Sets {
		key, _, _ := strings.Cut(varied, "=")
		given := slices.ContainsFunc(sets, func(s string) bool { return strings.HasPrefix(s, key+"=") })
		if v, ok := values[key]; ok && !given {
			out = append(out, fmt.Sprintf("%s=%v", key, v))
		}
	}
	return out
}
