package paper_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
	_ "github.com/hypermodels/hypermodels/hyper/internal/testbackend" // few collections of garbage
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

var update = flag.Bool("update", false, "record golden digests that the epoch does not have yet")

// golden is the result of one Spec in an epoch: for each entry, the digests of its runs' actions at the last period.
// Its settings are complete, so that a new default changes nothing here.
type golden struct {
	Backend string     `json:"backend,omitempty"` // "" is Go
	Spec    lab.Spec   `json:"spec"`
	Digests [][]uint32 `json:"digests"` // [entry][run]
}

// UnmarshalJSON parses a line of a golden file.
func (g *golden) UnmarshalJSON(text []byte) error {
	var raw struct {
		Backend string
		Spec    json.RawMessage
		Digests [][]uint32
	}
	err := json.Unmarshal(text, &raw)
	if err == nil {
		g.Backend, g.Digests = raw.Backend, raw.Digests
		g.Spec, err = lab.ParseSpec(raw.Spec, paper.Known)
	}
	return err
}

// goldenSpecs returns Specs with every agent of every experiment, and every policy, with small networks.
func goldenSpecs(t *testing.T) (all []lab.Spec) {
	for _, name := range paper.Order {
		if name != "gaussian" && name != "frontier" { // they have no networks to make small
			all = append(all, tiny(t, paper.Known[name], nil, lab.Size{Periods: 40, Runs: 2}))
		}
	}
	small := []string{"arms=4", "policy-samples=9", "batch=8", "index-samples=2", "particles=3"}
	all = append(all, tiny(t, paper.Gaussian, nil, lab.Size{Periods: 60, Runs: 2},
		append(small, "policy=thompson,ids,ucb,top-two,greedy")...))
	return append(all, tiny(t, paper.Gaussian, []string{"linear", "ensemble"}, lab.Size{Periods: 60, Runs: 2},
		"arms=4", "batch=8", "index-samples=2", "particles=3", "integrate=analytic,sampled"))
}

// readGolden reads the digests of the present epoch from a file. With -update the file need not exist.
func readGolden(t *testing.T, name string) (path string, lines []golden) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round in other ways; the digests are those of amd64")
	}
	epoch := lab.ThisProvenance("go").Epoch
	path = filepath.Join("testdata", fmt.Sprintf("%s-epoch-%d.jsonl", name, epoch))
	text, err := os.ReadFile(path)
	if err != nil && !(errors.Is(err, fs.ErrNotExist) && *update) {
		t.Fatalf("results are of epoch %d, which has no digests: %v; -update records them", epoch, err)
	}
	for line := range strings.Lines(string(text)) {
		var g golden
		if err := json.Unmarshal([]byte(line), &g); err != nil {
			t.Fatalf("cannot read %s: %v", path, err)
		}
		lines = append(lines, g)
	}
	return path, lines
}

// simulated returns the digests that the Spec of a line gives now. Batches do not depend on the machine.
func (g golden) simulated(t *testing.T) [][]uint32 {
	opts := lab.Options{Backend: cmp.Or(g.Backend, backend.Go), BatchRuns: 64, Workers: 1}
	_, rows := must.M2(lab.Simulate(t.Context(), g.Spec, paper.Known, opts))
	digests := make([][]uint32, len(g.Spec.Entries))
	for _, r := range rows {
		if r.Period == g.Spec.Periods {
			digests[r.Entry] = append(digests[r.Entry], r.Digest)
		}
	}
	return digests
}

// unusual returns, as "key=value" texts, the settings of an entry that are neither defaults nor results of a search.
func unusual(e lab.Entry) (sets []string) {
	for key, value := range catalog.Values(e.Setting) {
		if !slices.Contains(e.Setting.Usual(), key) {
			sets = append(sets, fmt.Sprintf("%s=%v", key, value))
		}
	}
	return sets
}

// check compares the recorded digests of a line to the present ones.
func (g golden) check(t *testing.T) {
	for i, now := range g.simulated(t) {
		if e := g.Spec.Entries[i]; !slices.Equal(now, g.Digests[i]) {
			t.Errorf("%s: %s with %v on %s acts in another way than before: digests %x, were %x. Is that a new epoch of "+
				"results? See TestGolden", g.Spec.Experiment, e.Agent, unusual(e), cmp.Or(g.Backend, backend.Go), now, g.Digests[i])
		}
	}
}

// record appends lines to a file, with their present digests.
func record(t *testing.T, path string, lines []golden) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, g := range lines {
		g.Digests = g.simulated(t)
		line := must.M1(json.Marshal(g))
		text = append(append(text, line...), '\n')
	}
	must.M(saved.WriteFile(path, text))
	t.Logf("%d Specs recorded in %s", len(lines), path)
}

// The actions of every agent are those recorded in the present epoch. If this test fails, either results changed by
// mistake, or a new epoch begins. For a new epoch, add a line to lab.Changes that says what changed, and record the
// digests by `go test ./hyper/paper -run 'TestGolden|TestActions' -update`. The records of an epoch are never
// rewritten. With -short every second record is checked.
func TestGolden(t *testing.T) {
	path, lines := readGolden(t, "golden")
	covered := map[string]bool{}
	for i, g := range lines {
		if i%2 == 0 || !testing.Short() {
			g.check(t)
		}
		for _, e := range g.Spec.Entries {
			covered[g.Spec.Experiment+" "+e.Agent] = true
		}
	}
	missing := []golden{}
	if len(lines) == 0 {
		for _, s := range goldenSpecs(t) {
			missing = append(missing, golden{Spec: s})
			for _, e := range s.Entries {
				covered[s.Experiment+" "+e.Agent] = true
			}
		}
	}
	for _, name := range paper.Order {
		for _, agent := range paper.Known[name].Order {
			if covered[name+" "+agent] || name == "frontier" { // its agents are gaussian's
				continue
			}
			spec := tiny(t, paper.Known[name], []string{agent}, lab.Size{Periods: 40, Runs: 2})
			if missing = append(missing, golden{Spec: spec}); !*update {
				t.Errorf("%s: there are no digests for %s; -update adds a new agent's digests to the epoch",
					name, agent)
			}
		}
	}
	if *update && !t.Failed() {
		record(t, path, missing)
	}
}
