package lab_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/internal/toys"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// The revisions of the tests: commits and a release.
const (
	commitA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	commitB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// The changes of the tests: one concerns everything, and one concerns toys with 3 arms.
var toyChanges = []lab.Change{{Epoch: 1, Revision: "1234567", What: "all is new"},
	{Epoch: 2, What: "three arms are new", Experiments: []string{"toys"},
		Agents: []string{"toy"}, Sets: []string{"arms=3,4"}}}

func TestMixable(t *testing.T) {
	lab.WithChanges(t, lab.Provenance{}, toyChanges...)
	two := []lab.Entry{{Agent: "toy", Setting: toys.Setting(2)}}
	three := append(two[:1:1], lab.Entry{Agent: "toy", Setting: toys.Setting(3)})
	at := func(epoch int, revision string) lab.Provenance {
		return lab.Provenance{Epoch: epoch, Revision: revision}
	}
	built := func(p lab.Provenance, build string) lab.Provenance {
		p.Modified, p.Build = p.Revision != lab.Unknown, build
		return p
	}
	for name, c := range map[string]struct {
		p, q    lab.Provenance
		entries []lab.Entry
		want    string // in the error, or "" for none
	}{
		"the same":                 {at(2, commitA), at(2, commitA), three, ""},
		"another, nothing changed": {at(2, commitA), at(2, "v1.2.0"), three, ""},
		"changed for others":       {at(1, commitA), at(2, commitB), two, ""},
		"changed":                  {at(1, commitA), at(2, commitB), three, "three arms are new"},
		"changed, backwards":       {at(2, commitB), at(1, commitA), three, "three arms are new"},
		"changed long ago":         {at(0, commitA), at(2, commitB), two, "since epoch 1 (1234567) all is new"},
		"names both": {at(1, commitA), at(2, commitB), three,
			"revision aaaaaaaaaaaa, results of epoch 1, and revision bbbbbbbbbbbb, results of epoch 2"},
		"unknown":                {at(2, commitA), at(2, lab.Unknown), two, "unknown"},
		"modified":               {at(2, commitA), built(at(2, commitA), "x"), two, "modified"},
		"modified, one program":  {built(at(2, commitA), "x"), built(at(2, commitA), "x"), three, ""},
		"modified, two programs": {built(at(2, commitA), "x"), built(at(2, commitA), "y"), two, "modified"},
		"unknown, one program":   {built(at(2, lab.Unknown), "x"), built(at(2, lab.Unknown), "x"), two, ""},
		"sources that moved on": {lab.Provenance{Epoch: 2, Revision: commitA, Build: "x"}, built(at(2, lab.Unknown), "x"),
			three, ""},
		"two programs, one commit": {lab.Provenance{Epoch: 2, Revision: commitA, Build: "x"},
			lab.Provenance{Epoch: 2, Revision: commitA, Build: "y"},
			three, ""},
		"unknown, but verified":  {at(2, commitA), built(at(2, lab.Unknown), "7a2cd82c7e18f4a940d0d9d6e5ad1349"), two, ""},
		"unknown, no program":    {at(2, lab.Unknown), at(2, lab.Unknown), two, "unknown"},
		"modified, no program":   {built(at(2, commitA), ""), built(at(2, commitA), ""), two, "modified"},
		"of the future":          {at(2, commitA), at(3, commitB), two, "knows results up to epoch 2"},
		"unrecorded":             {at(2, ""), at(2, ""), three, ""},
		"unrecorded and not":     {at(1, ""), at(2, commitA), two, ""},
		"unrecorded and changed": {at(1, ""), at(2, commitA), three, "not recorded"},
	} {
		for _, pair := range [][2]lab.Provenance{{c.p, c.q}, {c.q, c.p}} {
			err := pair[0].Mixable(pair[1], "toys", c.entries)
			if c.want == "" && err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if c.want != "" && (!errors.Is(err, lab.ErrMixed) || !strings.Contains(err.Error(), c.want) && pair[0] == c.p) {
				t.Errorf("%s: error %v, want one with %q", name, err, c.want)
			}
		}
	}
	if err := at(1, commitA).Mixable(at(2, commitB), "others", three); err != nil {
		t.Errorf("another experiment: %v", err)
	}
}

// begun makes a folder with a header of toys and the first row.
func begun(t *testing.T, h lab.Header) (dir string, text string) {
	t.Helper()
	dir = t.TempDir()
	h.Format, h.Version, h.Backend, h.BatchRuns = lab.Format, "0.1.0", "go", 2
	h.Spec = lab.Spec{Experiment: "toys", Periods: 10, Runs: 2, Seed: 3,
		Entries: []lab.Entry{{Agent: "toy", Setting: toys.Setting(3)}}}
	line := must.M1(json.Marshal(h))
	text = string(line) + "\n" + `{"entry":0,"run":0,"seed":3,"period":1,"cumulative_regret":1,"digest":9}` + "\n"
	must.M(os.WriteFile(filepath.Join(dir, lab.ResultsFile), []byte(text+`{"entry":0,"ru`), 0o600))
	return dir, text
}

// The code that began results may continue them, and so may other code that makes the same results. All other code may
// continue them only on request; the header then names both. The file loses nothing except for an incomplete last line.
func TestResumeByOtherCode(t *testing.T) {
	here := lab.Provenance{Epoch: 2, Revision: commitB, GoMLX: "v1", Compute: "v2", GoXLA: "v3"}
	lab.WithChanges(t, here, toyChanges...)
	changed := func(change func(*lab.Provenance)) lab.Provenance { p := here; change(&p); return p }
	for name, c := range map[string]struct {
		there lab.Provenance
		want  string // in the error, or "" for none
	}{
		"the same":         {here, ""},
		"another revision": {changed(func(p *lab.Provenance) { p.Revision = commitA }), ""},
		"another epoch": {changed(func(p *lab.Provenance) { p.Revision, p.Epoch = commitA, 1 }),
			"three arms are new"},
		"another GoMLX":  {changed(func(p *lab.Provenance) { p.GoMLX = "v0" }), "gomlx v0"},
		"another go-xla": {changed(func(p *lab.Provenance) { p.GoXLA = "v0" }), "go-xla v0"},
		"another plugin": {changed(func(p *lab.Provenance) { p.Plugin = "cafe" }), "plugin cafe"},
		"modified": {changed(func(p *lab.Provenance) { p.Modified, p.Build = true, "beef" }),
			"modified (build beef)"},
		"nothing was recorded":  {lab.Provenance{}, "not recorded"},
		"unknown, no build":     {changed(func(p *lab.Provenance) { p.Revision = lab.Unknown }), "unknown"},
		"a later epoch than we": {changed(func(p *lab.Provenance) { p.Epoch = 3 }), "epoch 3"},
	} {
		dir, text := begun(t, lab.Header{Provenance: c.there})
		h, err := lab.Reopen(t, dir, toys.Known, nil)
		if c.want != "" {
			if !errors.Is(err, lab.ErrMixed) || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), here.String()) && !strings.Contains(err.Error(), here.Libraries()) {
				t.Errorf("%s: error %v, want one with %q", name, err, c.want)
			}
			if now, _ := os.ReadFile(filepath.Join(dir, lab.ResultsFile)); !strings.HasPrefix(string(now), text) ||
				string(now) == text {
				t.Errorf("%s: the refused file was changed to %s", name, now)
			}
			var why error
			if h, err = lab.Reopen(t, dir, toys.Known, func(err error) { why = err }); !errors.Is(why, lab.ErrMixed) {
				t.Errorf("%s: Mix was called with %v", name, why)
			}
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if h.Provenance != c.there || len(h.Also) != 0 && c.there == here || c.there != here &&
			(len(h.Also) != 1 || h.Also[0] != here) {
			t.Errorf("%s: the header then names %v and %v", name, h.Provenance, h.Also)
		}
		now, err := os.ReadFile(filepath.Join(dir, lab.ResultsFile))
		_, rows, _ := strings.Cut(text, "\n")
		if _, after, _ := strings.Cut(string(now), "\n"); err != nil || after != rows {
			t.Errorf("%s: the rows are %q, were %q", name, after, rows)
		}
		if c.there == here && string(now) != text {
			t.Errorf("%s: the file is %q, was %q", name, now, text)
		}
		if again, err := lab.Reopen(t, dir, toys.Known, func(error) {}); err != nil || len(again.Also) != len(h.Also) {
			t.Errorf("%s: taken up again it names %v, %v", name, again.Also, err)
		}
	}
}

// A list of successive numbers is abbreviated, so that each change has a short line.
func TestChangesHaveShortLines(t *testing.T) {
	for _, c := range lab.Changes {
		if line := c.String(); len(line) > 200 {
			t.Errorf("the line of epoch %d has %d bytes: %s", c.Epoch, len(line), line)
		}
	}
	if line := lab.Changes[6].String(); !strings.HasSuffix(line, "; concerns only ids, size=51 to 1000") {
		t.Error(line)
	}
	c := lab.Change{Epoch: 1, What: "x", Sets: []string{"a=7", "b=1,3", "c=sgd,adam", "d=3,4"}}
	if got, want := c.String(), "epoch 1: x; concerns only a=7, b=1,3, c=sgd,adam, d=3 to 4"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The table is in order, and its last epoch is the epoch of the code.
func TestChangesAreInOrder(t *testing.T) {
	for i, c := range lab.Changes {
		if c.Epoch != i+1 || c.What == "" || c.Revision == "" && i < len(lab.Changes)-1 {
			t.Errorf("change %d: %+v", i, c)
		}
	}
	if p := lab.ThisProvenance("go"); p.Epoch != lab.ThisProvenance("go").Epoch || p.Revision == "" || p.GoMLX == "unknown" || p.Plugin != "" {
		t.Errorf("this is %+v", p)
	}
}
