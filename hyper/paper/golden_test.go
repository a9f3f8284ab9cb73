package paper_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

var update = flag.Bool("update", false, "record golden digests that the epoch does not have yet")

// golden is what one Spec gave in an epoch: of each entry the digests of its runs' actions at the last period. The
// settings in it are whole, so that a new default changes nothing here.
type golden struct {
	Spec    lab.Spec   `json:"spec"`
	Digests [][]uint32 `json:"digests"` // [entry][run]
}

// goldenSpecs have every agent of every experiment, and every policy, with small networks.
func goldenSpecs(t *testing.T) (all []lab.Spec) {
	for _, name := range paper.Order {
		if name != "gaussian" && name != "frontier" { // which have no networks to make small
			all = append(all, tiny(t, paper.Known[name], nil, lab.Size{Periods: 40, Runs: 2}))
		}
	}
	small := []string{"arms=4", "policy-samples=9", "batch=8", "index-samples=2", "particles=3"}
	all = append(all, tiny(t, paper.Gaussian, nil, lab.Size{Periods: 60, Runs: 2}, append(small, "policy=thompson,ids,ucb,top-two,greedy")...))
	return append(all, tiny(t, paper.Gaussian, []string{"linear", "ensemble"}, lab.Size{Periods: 60, Runs: 2},
		"arms=4", "batch=8", "index-samples=2", "particles=3", "integrate=analytic,sampled"))
}

func digests(t *testing.T, s lab.Spec) golden {
	_, rows, err := lab.Simulate(t.Context(), s, paper.Known, lab.Options{Backend: backend.Go, BatchRuns: 64})
	if err != nil {
		t.Fatal(err)
	}
	g := golden{Spec: s, Digests: make([][]uint32, len(s.Entries))}
	for _, r := range rows {
		if r.Period == s.Periods {
			g.Digests[r.Entry] = append(g.Digests[r.Entry], r.Digest)
		}
	}
	return g
}

// The actions of every agent are those that were recorded in the present epoch. When this test fails, either results
// changed that should not have, or a new epoch begins: add a line to lab.Changes that says what changed, and record
// the digests by `go test ./hyper/paper -run TestGolden -update`. What an epoch has recorded is never written anew.
func TestGolden(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round in other ways; the digests are those of amd64")
	}
	path := filepath.Join("testdata", fmt.Sprintf("golden-epoch-%d.jsonl", lab.Epoch()))
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && *update {
		record(t, path, "", goldenSpecs(t))
		return
	} else if err != nil {
		t.Fatalf("results are of epoch %d, which has no golden digests: %v; -update records them", lab.Epoch(), err)
	}
	covered := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		var g struct {
			Spec    json.RawMessage
			Digests [][]uint32
		}
		if err := json.Unmarshal([]byte(line), &g); err != nil {
			t.Fatal(err)
		}
		spec, x, err := lab.ParseSpec(g.Spec, paper.Known)
		if err != nil {
			t.Fatal(err)
		}
		got := digests(t, spec)
		for i, e := range spec.Entries {
			covered[x.Name+" "+e.Agent] = true
			if !reflect.DeepEqual(got.Digests[i], g.Digests[i]) {
				t.Errorf("%s: %s with %v acts in another way than before: digests %x, were %x. Is that a new epoch of results? See above this test", x.Name, e.Agent,
					x.Unusual(e), got.Digests[i], g.Digests[i])
			}
		}
	}
	var missing []lab.Spec
	for _, name := range paper.Order {
		for _, agent := range paper.Known[name].Order {
			if covered[name+" "+agent] || name == "frontier" { // whose agents are gaussian's
				continue
			}
			if missing = append(missing, tiny(t, paper.Known[name], []string{agent}, lab.Size{Periods: 40, Runs: 2})); !*update {
				t.Errorf("%s: no digests of %s; -update adds those of a new agent to the epoch's", name, agent)
			}
		}
	}
	if *update && !t.Failed() {
		record(t, path, string(text), missing)
	}
}

// record writes the digests of Specs behind those that there are.
func record(t *testing.T, path, text string, specs []lab.Spec) {
	for _, s := range specs {
		line, err := json.Marshal(digests(t, s))
		if err != nil {
			t.Fatal(err)
		}
		text += string(line) + "\n"
	}
	if err := lab.WriteFile(path, []byte(text)); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d Specs recorded in %s", len(specs), path)
}
