package notebook

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/tune"
)

// Searches returns a table of records of searches, results/tuning/PATTERN.json next to the notebook, for the agents of
// a study. A row has the settings that a search fixed, its budget, its winner, and the settings in which the study
// differs from the winner. Of several entries of the agent, the nearest to the winner counts.
func Searches(h lab.Header, patterns ...string) *Table {
	t := NewTable("record in `results/tuning`", "agent", "fixed", "candidates", "run-periods", "winner",
		"the study has instead")
	for _, pattern := range patterns {
		files := must.M1(filepath.Glob(filepath.Join("results", "tuning", pattern+".json")))
		if len(files) == 0 {
			panic(fmt.Errorf("no record of a search results/tuning/%s.json here; `hyper tune` makes records", pattern))
		}
		for _, file := range files {
			var record tune.Search
			must.M(json.Unmarshal(must.M1(os.ReadFile(file)), &record))
			other, ok := instead(h, record)
			if !ok {
				continue
			}
			name := strings.TrimSuffix(must.M1(filepath.Rel("results/tuning", file)), ".json")
			t.Row(name, record.Agent, code(record.Sets), len(record.Rungs[0].Results), record.Budget(),
				code(record.Best()), code(other))
		}
	}
	return t
}

// instead returns the study's settings that differ from the winner and from the fixed settings. ok is false if the
// study lacks the agent.
func instead(h lab.Header, record tune.Search) (least []string, ok bool) {
	for _, e := range h.Spec.Entries {
		if e.Agent != record.Agent {
			continue
		}
		var other []string
		values := catalog.Values(e.Setting)
		for _, set := range slices.Concat(record.Sets, record.Best()) {
			key, value, _ := strings.Cut(set, "=")
			if own := fmt.Sprint(values[key]); own != value {
				other = append(other, key+"="+own)
			}
		}
		if !ok || len(other) < len(least) {
			least, ok = other, true
		}
	}
	return least, ok
}
