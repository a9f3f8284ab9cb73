package sweep_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// remade gives a finished shard a header that names other code, with a matching checksum.
func remade(t *testing.T, dir string, n int, change func(p *lab.Provenance)) {
	t.Helper()
	path := filepath.Join(sweep.ShardDir(dir, n), lab.ResultsFile)
	text := string(must.M1(os.ReadFile(path)))
	h, _, err := lab.ReadResults(filepath.Dir(path), paper.Known)
	must.M(err)
	change(&h.Provenance)
	_, rows, _ := strings.Cut(text, "\n")
	now := string(must.M1(json.Marshal(h))) + "\n" + rows
	must.M(os.WriteFile(path, []byte(now), 0o600))
	events := filepath.Join(filepath.Dir(path), "events.jsonl")
	sum := func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }
	must.M(os.WriteFile(events, []byte(strings.ReplaceAll(string(must.M1(os.ReadFile(events))), sum(text), sum(now))),
		0o600))
}

// Shards of different code, such as another library, another plugin or an edited checkout, are not merged unless Mix is
// set; the header then names all code.
func TestShardsOfOtherCode(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many shards")
	}
	for name, change := range map[string]func(p *lab.Provenance){
		"gomlx v0":     func(p *lab.Provenance) { p.GoMLX = "v0" },
		"plugin cafe":  func(p *lab.Provenance) { p.Plugin = "cafe" },
		"modified":     func(p *lab.Provenance) { p.Modified, p.Build = true, "beef" },
		"not recorded": func(p *lab.Provenance) { *p = lab.Provenance{} },
	} {
		p, dir := created(t, grid(t, 5), sweep.Options{Shards: 2})
		runAll(t, p, dir, []int{0, 1})
		must.M2(p.Rows(dir, paper.Known))
		remade(t, dir, 1, change)
		if _, _, err := p.Rows(dir, paper.Known); !errors.Is(err, lab.ErrMixed) ||
			!strings.Contains(err.Error(), "shards 0 and 1") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: merging: %v", name, err)
		}
		var why error
		p.Mix = func(err error) { why = err }
		h, _, err := p.Rows(dir, paper.Known)
		if err != nil || !errors.Is(why, lab.ErrMixed) || len(h.Code()) != 2 {
			t.Errorf("%s: merging with Mix: %v; Mix was called with %v; the header names %v", name, err, why, h.Code())
		}
	}
}

// A plan of other code is not continued unless Mix is set.
func TestPlansOfOtherCode(t *testing.T) {
	p := must.M1(sweep.New(grid(t, 5), sweep.Options{Backend: backend.Go, BatchRuns: 5, Shards: 2}))
	old, dir := p, t.TempDir()
	old.Provenance = lab.Provenance{Epoch: 0, Revision: strings.Repeat("a", 40)}
	must.M(old.Create(dir, paper.Known))
	other := must.M1(sweep.Open(dir, paper.Known))
	if err := other.RunShard(t.Context(), dir, 0, paper.Known, lab.Options{Workers: 1}); !errors.Is(err, lab.ErrMixed) {
		t.Errorf("a shard of it: %v", err)
	}
	if err := local(1).Run(t.Context(), other, dir); !errors.Is(err, lab.ErrMixed) {
		t.Errorf("all of it: %v", err)
	}
	if s := must.M1(other.States(dir)); s[0].State != sweep.Waiting {
		t.Errorf("the refused shard is %s", s[0].State)
	}
	other.Mix = func(error) {}
	must.M(other.RunShard(t.Context(), dir, 0, paper.Known, lab.Options{Workers: 1}))
	must.M(p.RunShard(t.Context(), dir, 1, paper.Known, lab.Options{Workers: 1}))
}

// Numbers of runs that add up correctly but are too large for any memory are detected as different from the plan's.
func TestHostilePlans(t *testing.T) {
	_, dir := created(t, grid(t, 5), sweep.Options{Shards: 2})
	path := filepath.Join(dir, sweep.PlanFile)
	good := string(must.M1(os.ReadFile(path)))
	for name, bad := range map[string]string{
		"many runs in a shard": strings.Replace(good, "\"runs\": 5\n  }", "\"runs\": 9000000000000000000\n  }", 1),
		"many runs":            strings.Replace(good, `"runs": 5,`, `"runs": 9000000000000000000,`, 1),
		"a far first":          strings.Replace(good, `"first": 0`, `"first": 9223372036854775807`, 1),
		"a negative first":     strings.Replace(good, `"first": 0`, `"first": -1`, 1),
		"no runs":              strings.Replace(good, "\"runs\": 5\n  }", "\"runs\": 0\n  }", 1),
	} {
		if bad == good {
			t.Fatalf("%s: nothing was changed in %s", name, good)
		}
		must.M(os.WriteFile(path, []byte(bad), 0o600))
		if _, err := sweep.Open(dir, paper.Known); !errors.Is(err, sweep.ErrPlan) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
