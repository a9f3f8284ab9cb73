package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// madeBy copies results of the agent exact, cut off after some lines, with a header that names other code.
func madeBy(t *testing.T, dir string, lines int, seed uint64, change func(h *lab.Header)) string {
	t.Helper()
	text := strings.SplitAfter(string(must.M1(os.ReadFile(filepath.Join(dir, lab.ResultsFile)))), "\n")
	h, _, err := lab.ReadResults(dir, knownExperiments)
	must.M(err)
	h.Spec.Seed = seed
	change(&h)
	out := filepath.Join(t.TempDir(), "other")
	rest := strings.Join(text[1:min(lines, len(text))], "")
	for run := range h.Spec.Runs {
		old, now := must.M1(json.Marshal(7+run)), must.M1(json.Marshal(seed+uint64(run)))
		rest = strings.ReplaceAll(rest, `"seed":`+string(old)+`,`, `"seed":`+string(now)+`,`)
	}
	must.M(saved.WriteFile(filepath.Join(out, lab.ResultsFile), []byte(string(must.M1(json.Marshal(h)))+"\n"+rest)))
	return out
}

// Results of other code are continued and joined only with --mix. The error names the difference, and the joined
// results name both versions.
func TestMix(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	must0(t, "run", "gaussian", "--agent", "exact", "--set", "arms=3", "--periods", "20",
		"--runs", "3", "--seed", "7", "--out", dir)
	const all = 1000
	first := func(h *lab.Header) { h.Provenance = lab.Provenance{Epoch: 0, Revision: strings.Repeat("a", 40)} }
	begun := madeBy(t, dir, 5, 7, first)
	if status, _, stderr := call(t, "resume", begun); status != exitBadInput ||
		!strings.Contains(stderr, "revision aaaaaaaaaaaa") || !strings.Contains(stderr, "--mix joins them") {
		t.Errorf("resume: exit status %d, want 2 and advice: %s", status, stderr)
	}
	if status, _, stderr := call(t, "resume", begun, "--mix"); status != 0 ||
		!strings.Contains(stderr, "joined because of --mix") {
		t.Errorf("resume --mix: exit status %d, want 0 and a note: %s", status, stderr)
	}
	h, rows, err := lab.ReadResults(begun, knownExperiments)
	if _, want, _ := lab.ReadResults(dir, knownExperiments); err != nil || len(h.Also) != 1 ||
		h.Provenance.Revision[0] != 'a' || len(rows) != len(want) {
		t.Errorf("the header has the code %v; got %d of %d rows, error %v", h.Code(), len(rows), len(want), err)
	}
	other := madeBy(t, dir, all, 107, first)
	for _, args := range [][]string{{"compare"}, {"plot", "--out", filepath.Join(t.TempDir(), "x")},
		{"check", "gaussian", "--claim", "linear-near-exact", "--study", dir, "--study", other}} {
		if args[0] != "check" {
			args = append(args, dir, other)
		}
		if status, _, stderr := call(t, args...); status != exitBadInput ||
			!strings.Contains(stderr, "since epoch 1 (bc9e383)") && !strings.Contains(stderr, "modified") {
			t.Errorf("hyper %s: exit status %d, want 2 and the reason: %s", strings.Join(args, " "), status, stderr)
		}
		if status, _, stderr := call(t, append(args, "--mix")...); status == exitBadInput ||
			!strings.Contains(stderr, "joined because of --mix") {
			t.Errorf("hyper %s --mix: exit status %d, want success and a note: %s",
				strings.Join(args, " "), status, stderr)
		}
	}
	unrecorded := func(h *lab.Header) { h.Provenance = lab.Provenance{} }
	a, b := madeBy(t, dir, all, 107, unrecorded), madeBy(t, dir, all, 207, unrecorded)
	must0(t, "compare", a, b)
}

// version, doctor and the headers of results show the same code.
func TestVersionTellsTheCode(t *testing.T) {
	status, stdout, stderr := call(t, "version", "--json")
	var p lab.Provenance
	if err := json.Unmarshal([]byte(stdout), &p); status != 0 || err != nil || p.Epoch != lab.ThisProvenance("go").Epoch ||
		p.Revision == "" || p.GoMLX == "unknown" {
		t.Fatalf("exit status %d, error %v, want 0 and the provenance of this build: %s%s", status, err, stdout, stderr)
	}
	for _, verb := range []string{"version", "doctor"} {
		if status, stdout, stderr := call(t, verb); status != 0 || !strings.Contains(stdout, p.String()) ||
			!strings.Contains(stdout, p.Libraries()) {
			t.Errorf("hyper %s: exit status %d, %s%s; want %s", verb, status, stdout, stderr, p)
		}
	}
}

// Every file of the committed studies can be read, and joined with the others of its experiment without a message.
func TestCommittedStudies(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all studies")
	}
	studies := map[string][]string{}
	for _, file := range must.M1(filepath.Glob(resultsFolder + "/*/*.jsonl.gz")) {
		key, base := filepath.Dir(file), filepath.Base(file)
		if folder := filepath.Base(key); folder == "hypernetworks" || folder == "policies" { // files EXPERIMENT-...
			experiment, _, _ := strings.Cut(base, "-")
			key = filepath.Join(key, experiment)
		}
		studies[key] = append(studies[key], file)
	}
	if len(studies) < 10 {
		t.Errorf("got %d studies, want at least 10", len(studies))
	}
	for name, pieces := range studies {
		h, rows, err := archive().Study(must.M1(filepath.Rel(resultsFolder, name)))
		if len(rows) == 0 && err == nil { // files EXPERIMENT-...
			h, rows, err = analysis.Read(knownExperiments, pieces...)
		}
		if err != nil {
			t.Errorf("%s: got error %v, want none", name, err)
		}
		with := map[int]bool{}
		for _, r := range rows {
			with[r.Entry] = true
		}
		if len(with) != len(h.Spec.Entries) {
			t.Errorf("%s: %d of %d entries have rows, want all", name, len(with), len(h.Spec.Entries))
		}
	}
}
