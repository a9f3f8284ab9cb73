package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// A study of exact Thompson sampling alone decides some claims, leaves one undecided, and cannot judge claims about
// other agents.
func TestCheckTellsWhyClaimsAreNotShown(t *testing.T) {
	study := must.M1(filepath.Abs("../../notebooks/results/frontier/exact.jsonl.gz"))
	status, stdout, stderr := call(t, "check", "frontier", "--study", study,
		"--claim", "exact-100,exact-300,exact-1000,least-10")
	if status != 1 {
		t.Errorf("exit status %d, want 1", status)
	}
	for _, want := range []string{"runs: reproduced", "undecided", "runs would decide", "refuted",
		"least-10: with K = 10 arms, the diagonal", "not tested: not in the study: agent linear with"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("got no %q in %s", want, stdout)
		}
	}
	want := "of 4 claims 1 reproduced, 1 refuted, 1 undecided, 1 not tested"
	if !strings.Contains(stderr, want) {
		t.Errorf("got no %q in %s", want, stderr)
	}
}

// A study is judged at the size of the claims, or at a size that flags select. The output then says so, also with
// --json.
func TestCheckJudgesAtOneSize(t *testing.T) {
	study := must.M1(filepath.Abs("../../notebooks/results/noise-sensitivity/noise-2.jsonl.gz"))
	args := []string{"check", "noise-sensitivity", "--claim", "perturbation-2", "--study", study}
	status, stdout, stderr := call(t, args...)
	if want := "not tested: not in the study: agent linear with noise=2 perturbation=1, its other settings at " +
		"their defaults, needs 24 runs with results at " +
		"period 100000; the study has 60 runs of 5000 periods\n"; status != 1 || !strings.Contains(stdout, want) {
		t.Errorf("exit status %d, want 1 and %q\n%s%s", status, want, stdout, stderr)
	}
	status, stdout, stderr = call(t, append(args, "--periods", "5000", "--runs", "60")...)
	for _, want := range []string{"60 runs: undecided\n", "judged at 60 runs of 5000 periods, as --periods and " +
		"--runs ask; the claim's own size is 24 runs of 100000 periods\n"} {
		if status != 1 || !strings.Contains(stdout, want) {
			t.Errorf("exit status %d, want 1 and %q\n%s%s", status, want, stdout, stderr)
		}
	}
	_, stdout, _ = call(t, append(args, "--json")...)
	var f map[string]any
	if err := json.Unmarshal([]byte(stdout), &f); err != nil || f["verdict"] != "not tested" ||
		f["estimate"] != nil || f["reason"] == nil || f["periods"] != 100000.0 {
		t.Errorf("error %v, got %s, want the verdict \"not tested\"", err, stdout)
	}
}

// Results with a header and no rows, as from a run that was stopped early, give an error that says how to continue.
func TestCheckOfAHeaderAlone(t *testing.T) {
	dir := t.TempDir()
	args := []string{"run", "gaussian", "--agent", "linear", "--periods", "5", "--runs", "2", "--out", dir}
	must0(t, args...)
	file := filepath.Join(dir, lab.ResultsFile)
	header, _, _ := bytes.Cut(must.M1(os.ReadFile(file)), []byte("\n"))
	must.M(os.WriteFile(file, append(header, '\n'), 0o644))
	for _, verb := range [][]string{{"check", "gaussian", "--study", dir}, {"compare", dir}, {"plot", dir}} {
		status, _, stderr := call(t, verb...)
		if status != exitBadInput || !strings.Contains(stderr, "hyper resume") || strings.Contains(stderr, "panic") {
			t.Errorf("%v: exit status %d, want 2 and how to go on: %s", verb, status, stderr)
		}
	}
}

// The help explains every verdict of check, and the list shows the size that a claim needs.
func TestCheckHelp(t *testing.T) {
	_, help, _ := call(t, "check", "--help")
	for _, v := range []study.Verdict{study.Reproduced, study.Refuted, study.Undecided, study.NotTested} {
		if !strings.Contains(help, "\n  "+string(v)+"  ") {
			t.Errorf("the help does not explain the verdict %q", v)
		}
	}
	if !strings.Contains(help, "check keeps no results. If it is interrupted") {
		t.Error("the help does not say that an interrupted check keeps nothing")
	}
	_, list, _ := call(t, "list", "gaussian")
	if want := "(not in the paper)\n      100 runs of 2000 periods; with --quick 30 runs of 2000 periods\n"; !strings.Contains(list, want) {
		t.Errorf("got no %q in the list", want)
	}
}
