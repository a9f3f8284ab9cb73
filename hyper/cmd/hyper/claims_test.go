package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/paper"
)

var update = flag.Bool("update", false, "write the table of claims into notebooks/results/README.md")

const (
	resultsPage = "../../../notebooks/results/README.md"
	tableBegins = "go test ./hyper/cmd/hyper -run TestClaimsTable -update -->\n"
	tableEnds   = "\n<!-- end of claims -->"
)

// The table of claims in notebooks/results is what the committed results say, and the README's lines are lines of it.
func TestClaimsTable(t *testing.T) {
	all, err := judgeFolder(paper.Order, "../../../notebooks/results", false)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	writeClaims(&table, all)
	page := string(must.M1(os.ReadFile(resultsPage)))
	before, rest, ok := strings.Cut(page, tableBegins)
	_, after, ok2 := strings.Cut(rest, tableEnds)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", resultsPage)
	}
	want := before + tableBegins + table.String() + tableEnds + after
	if *update {
		must.M(os.WriteFile(resultsPage, []byte(want), 0o644))
	} else if page != want {
		t.Errorf("%s is not what the results say; the test writes it with -update", resultsPage)
	}

	lines := map[string]paper.Judged{}
	for _, j := range all {
		lines[j.Claim.Name] = j
	}
	const readmePage = "../../../README.md"
	readme := string(must.M1(os.ReadFile(readmePage)))
	headlines := regexp.MustCompile("(?m)^\\|.*\\| ([^|]*) \\| ([^|]*) \\| `([a-z0-9-]+)` \\|$").FindAllStringSubmatch(readme, -1)
	if len(headlines) < 5 || len(headlines) > 10 {
		t.Errorf("the README has %d headline results, want 5 to 10", len(headlines))
	}
	for _, h := range headlines {
		j, ok := lines[h[3]]
		if !ok {
			t.Errorf("the README has claim %s, which the table does not have", h[3])
			continue
		}
		text, verdict := headline(j)
		if *update {
			line := strings.TrimSuffix(h[0], fmt.Sprintf("| %s | %s | `%s` |", h[1], h[2], h[3]))
			readme = strings.Replace(readme, h[0], fmt.Sprintf("%s| %s | %s | `%s` |", line, text, verdict, h[3]), 1)
		} else if h[1] != text || h[2] != verdict {
			t.Errorf("the README has %s, %s of claim %s, and the results say %s, %s", h[1], h[2], h[3], text, verdict)
		}
	}
	if *update {
		must.M(os.WriteFile(readmePage, []byte(readme), 0o644))
	}
}

// headline is what the README says of a claim.
func headline(j paper.Judged) (text, verdict string) {
	verdict = string(j.Finding.Verdict)
	if j.Smaller != nil {
		verdict = "smaller study"
	}
	shown := j.Shown()
	if shown.Untested != nil {
		return "", verdict
	}
	return estimate(shown.Finding), verdict
}

// A line of the table is printed alone, with the verdict that it has in the table.
func TestCheckAllOfOneClaim(t *testing.T) {
	results := must.M1(filepath.Abs("../../../notebooks/results"))
	one := []string{"check", "--all", "--study", results, "--claim", "hypernetwork-below-linear"}
	status, stdout, stderr := call(t, one...)
	if status != 1 || strings.Count(stdout, "| `") != 1 || !strings.Contains(stderr,
		"of 1 claims 0 reproduced, 1 refuted") {
		t.Fatalf("exit status %d, %s%s", status, stdout, stderr)
	}
	page := string(must.M1(os.ReadFile(resultsPage)))
	if line := stdout[strings.Index(stdout, "| `"):]; !strings.Contains(page, line) {
		t.Errorf("the page has no line %s", line)
	}
	one[len(one)-1] = "hypernetwork-below-linea"
	if status, _, stderr := call(t, one...); status != exitBadInput ||
		!strings.Contains(stderr, "hypernetwork-below-linear") {
		t.Errorf("an unknown claim: exit status %d, %s", status, stderr)
	}
}

// What cannot be printed is refused, with what to do.
func TestCheckAllRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		"needs one --study DIR":           {"check", "--all"},
		"unknown command":                 {"check", "--all", "ids", "--study", "x"},
		"no results in folders":           {"check", "--all", "--study", t.TempDir()},
		"--periods is for one experiment": {"check", "--all", "--study", "x", "--periods", "10"},
	} {
		if status, _, stderr := call(t, args...); status != exitBadInput || !strings.Contains(stderr, want) {
			t.Errorf("%v: exit status %d, want 2 and %q: %s", args, status, want, stderr)
		}
	}
}

// The rounds of a search are read from flags, and a word too many is refused.
func TestStages(t *testing.T) {
	plan, err := stages([]string{"24:16:500", "3:32:2000"})
	if err != nil || len(plan) != 2 || plan[0].Candidates != 24 || plan[1].Size.Runs != 32 ||
		plan[1].Size.Periods != 2000 {
		t.Errorf("%+v, %v", plan, err)
	}
	for _, text := range []string{"", "24", "24:16", "24:16:500:7", "a:b:c", "24:16:500x"} {
		if _, err := stages([]string{text}); err == nil {
			t.Errorf("--rung %q is not refused", text)
		}
	}
}
