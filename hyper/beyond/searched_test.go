package beyond_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/tune"
)

// All searches in the bandit with rewards 0 and 1 have the same budget and the same seeds. The study has the winners of
// the searches, on seeds that no search has used. Ensembles have 30 particles in both.
func TestSearchedAlike(t *testing.T) {
	const results = "../../notebooks/results/"
	pieces := must.M1(filepath.Glob(results + "beyond/testbed-bandit/searched/*.gz"))
	h, _ := must.M2(analysis.Read(beyond.Known, pieces...))
	if len(h.Spec.Entries) != len(beyond.TestbedBandit.Order) {
		t.Errorf("%d agents, want %d", len(h.Spec.Entries), len(beyond.TestbedBandit.Order))
	}
	for _, e := range h.Spec.Entries {
		file := results + "tuning/testbed-bandit/" + strings.Replace(e.Agent, "+", "-plus", 1) + ".json"
		record := must.M1(tune.ReadSearch(file))
		budget := 0
		for _, r := range record.Rungs {
			budget += len(r.Results) * r.Size.Runs * r.Size.Periods
		}
		if budget != 192_000 || record.Seed != 2_000_000 || record.Agent != e.Agent {
			t.Errorf("%s: %d run-periods from seed %d of %s", file, budget, record.Seed, record.Agent)
		}
		if h.Spec.Seed+uint64(h.Spec.Runs) > record.Seed {
			t.Errorf("%s: its seeds begin at %d, and the study has %d to %d", file, record.Seed, h.Spec.Seed,
				h.Spec.Seed+uint64(h.Spec.Runs)-1)
		}
		sets := slices.Concat(record.Sets, record.Best())
		spec := must.M1(beyond.TestbedBandit.Spec([]string{e.Agent}, sets, lab.Size{Periods: 1, Runs: 1}, 0))
		want, got := catalog.Values(spec.Entries[0].Setting), catalog.Values(e.Setting)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the study has the settings %v, and the record's winner %v", e.Agent, got, want)
		}
	}
}
