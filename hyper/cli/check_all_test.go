package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/plot"
	"github.com/hypermodels/hypermodels/hyper/study"
)

var update = flag.Bool("update", false, "write what the results say into the pages")

const (
	resultsFolder = "../../notebooks/results"
	resultsPage   = resultsFolder + "/README.md"
)

// archive returns the committed results. It reads each study once for all tests.
var archive = sync.OnceValue(func() *study.Archive { return study.NewArchive(resultsFolder, knownExperiments) })

// between returns the text of a page between two marks, each at the end of a line.
func between(t *testing.T, page, begin, end string) (before, text, after string) {
	t.Helper()
	before, rest, ok := strings.Cut(page, begin)
	line, rest, ok2 := strings.Cut(rest, "-->\n")
	text, after, ok3 := strings.Cut(rest, end)
	if !ok || !ok2 || !ok3 {
		t.Fatalf("the page has no text between the marks %q and %q", begin, end)
	}
	return before + begin + line + "-->\n", text, end + after
}

// has compares a part of a page to its expected text, or writes it with -update.
func has(t *testing.T, file, begin, end, want string) {
	t.Helper()
	before, text, after := between(t, string(must.M1(os.ReadFile(file))), begin, end)
	if *update {
		must.M(os.WriteFile(file, []byte(before+want+after), 0o644))
	} else if text != want {
		t.Errorf("%s differs from the results; the test writes it with -update:\n%s", file, want)
	}
}

// The table of claims in notebooks/results equals the committed results.
func TestClaimsTable(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all studies")
	}
	all := must.M1(archive().JudgeClaims(paper.Order, claimsOf))
	has(t, resultsPage, "<!-- claims", "<!-- end of claims -->", study.ClaimsTable(all)+"\n")
}

// The ten answers, their evidence and their figure, on the results page and in the README, equal the committed results.
func TestAnswersOnPages(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all studies")
	}
	all := must.M1(study.Answers(archive(), paper.Sentences))
	table := "\n" + study.AnswersTable(all) + "\n"
	has(t, resultsPage, "<!-- answers", "<!-- end of answers -->", table)
	has(t, "../../README.md", "<!-- ten answers", "<!-- end of ten answers -->", table)
	has(t, "../../README.md", "<!-- answers", "<!-- end of answers -->", fmt.Sprintf(
		`**Does the paper hold?** Experiments test %d of its sentences: %s, because the
runs so far do not decide. See [the answers and their evidence](notebooks/results/README.md).
`, len(all), study.CountVerdicts(all)))
	has(t, resultsPage, "<!-- evidence", "<!-- end of evidence -->", "\n"+evidence(all))
	alike := "\n" + must.M1(archive().Means("neural/like-for-like-1000", "neural/like-for-like-200")) + "\n" +
		searches("tuning/like-for-like") + "\n"
	has(t, resultsPage, "<!-- like for like", "<!-- end of like for like -->", alike)
	best := "\n" + must.M1(archive().Means("neural/best-1000", "neural/sixth-1000")) + "\n" +
		searches("tuning/best") + "\n"
	has(t, resultsPage, "<!-- best", "<!-- end of best -->", best)
	p := must.M1(forest(all))
	if *update {
		must.M(plot.Save(p, resultsFolder+"/answers"))
	}
	path := filepath.Join(t.TempDir(), "answers")
	must.M(plot.Save(p, path))
	if !bytes.Equal(must.M1(os.ReadFile(path+".svg")), must.M1(os.ReadFile(resultsFolder+"/answers.svg"))) {
		t.Error("answers.svg differs from the results; the test draws it with -update")
	}
}

// hyper check --paper prints ten answers, as text and as JSON, and refuses flags that it cannot be combined with. The
// text is of a folder with a single study.
func TestCheckPaper(t *testing.T) {
	some := t.TempDir()
	must.M(os.MkdirAll(some+"/ids/study8", 0o755))
	const piece = "/ids/study8/printed-1100000.jsonl.gz"
	must.M(os.Symlink(must.M1(filepath.Abs(resultsFolder+piece)), some+piece))
	status, stdout, stderr := call(t, "check", "--paper", "--study", some)
	if status != 1 || strings.Count(stdout, "“") != 10 || !strings.Contains(stdout,
		"does not hold: regret of IDS over Thompson sampling") || !strings.Contains(stderr,
		"of 10 sentences 0 hold, 1 does not hold and 9 are open") {
		t.Errorf("exit status %d, want 1 and ten sentences\n%s%s", status, stdout, stderr)
	}
	_, stdout, _ = call(t, "check", "--paper", "--json", "--study", some)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	var sixth answer
	if err := json.Unmarshal([]byte(lines[5]), &sixth); err != nil || len(lines) != 10 || sixth.Sentence != 6 ||
		sixth.Answer != study.DoesNotHold || len(sixth.Parts) != 1 || sixth.Parts[0].Pairs != 500 {
		t.Errorf("got %d lines of JSON, the sixth %+v, error %v, want 10 and that sentence 6 does not hold",
			len(lines), sixth, err)
	}
	for want, args := range map[string][]string{
		"--paper needs one --study DIR":            {"check", "--paper"},
		"--runs cannot be combined with --paper":   {"check", "--paper", "--study", "x", "--runs", "3"},
		"no results in folders":                    {"check", "--paper", "--study", t.TempDir()},
		"--figure needs --paper":                   {"check", "gaussian", "--figure", "x"},
		"--paper takes no EXPERIMENT, and got ids": {"check", "--paper", "ids", "--study", "x"},
	} {
		refused(t, args, want)
	}
}

// A single line of the table is printed with its verdict in the table.
func TestCheckAllOfOneClaim(t *testing.T) {
	if testing.Short() {
		t.Skip("TestCheckPaper reads results, too")
	}
	results := t.TempDir() // with the experiment of the claim alone
	must.M(os.Symlink(must.M1(filepath.Abs(resultsFolder+"/noise-sensitivity")), results+"/noise-sensitivity"))
	one := []string{"check", "--all", "--study", results, "--claim", "robust-0"}
	status, stdout, stderr := call(t, one...)
	if status != 1 || strings.Count(stdout, "| `") != 1 || !strings.Contains(stderr,
		"of 1 claims 0 reproduced, 1 refuted") {
		t.Fatalf("exit status %d, want 1 and one refuted claim: %s%s", status, stdout, stderr)
	}
	page := string(must.M1(os.ReadFile(resultsPage)))
	if line := stdout[strings.Index(stdout, "| `"):]; !strings.Contains(page, line) {
		t.Errorf("the page does not have the line %s", line)
	}
	one[len(one)-1] = "robus-0"
	refused(t, one, "robust-0")
}

// Impossible requests are refused, with advice.
func TestCheckAllRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		"needs one --study DIR":     {"check", "--all"},
		"--all takes no EXPERIMENT": {"check", "--all", "ids", "--study", "x"},
		"no results in folders":     {"check", "--all", "--study", t.TempDir()},
		"--periods needs a single":  {"check", "--all", "--study", "x", "--periods", "10"},
	} {
		refused(t, args, want)
	}
}

// The rounds of a search are read from flags, and additional words are refused.
func TestStages(t *testing.T) {
	plan, err := stages([]string{"24:16:500", "3:32:2000"})
	if err != nil || len(plan) != 2 || plan[0].Candidates != 24 || plan[1].Size.Runs != 32 ||
		plan[1].Size.Periods != 2000 {
		t.Errorf("stages: got %+v, error %v, want two", plan, err)
	}
	for _, text := range []string{"", "24", "24:16", "24:16:500:7", "a:b:c", "24:16:500x"} {
		if _, err := stages([]string{text}); err == nil {
			t.Errorf("--rung %q: got no error", text)
		}
	}
}
