package notebook

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// The list has all answers or some of them, as hyper check --paper gives them.
func TestAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the studies of the paper")
	}
	t.Chdir("../../notebooks")
	if all := listOf(answers(), nil); strings.Count(all, "\n* **") != len(paper.Sentences)-1 || !strings.Contains(all,
		"* **7. The network of the theorem exists, and can be built: holds.** “linear hypermodels can represent") {
		t.Errorf("got\n%s, want all sentences", all)
	}
	if one := listOf(answers(), []int{6}); strings.Count(one, "* **") != 1 || !strings.Contains(one, "Thompson sampling: does not hold.** “") {
		t.Errorf("got\n%s, want sentence 6", one)
	}
	if rows := numbered(answers(), []int{8})[0].ComparisonsTable(); strings.Count(rows, "\n| ") != 9 {
		t.Errorf("evidence of sentence 8: want eight comparisons, got\n%s", rows)
	}
	defer func() {
		if recover() == nil {
			t.Error("sentence 11: got no panic")
		}
	}()
	numbered(answers(), []int{11})
}

// Without results the answers are an error that names the folder, and not open.
func TestAnswersNeedResults(t *testing.T) {
	for dir, want := range map[string]string{
		t.TempDir(): "found no results in folders", "nowhere": "there is no such folder",
	} {
		func() {
			defer func() {
				if problem := fmt.Sprint(recover()); !strings.Contains(problem, dir+": "+want) {
					t.Errorf("got %s, want %s: %s", problem, dir, want)
				}
			}()
			answersFrom(dir)
		}()
	}
}

// The verdict on a statement follows from the verdicts on its claims. A statement without claims is not tested. Statements
// are in the order of their verdicts.
func TestVerdictLines(t *testing.T) {
	verdict := map[string]study.Verdict{"untested": study.NotTested, "undecided": study.Undecided,
		"refuted": study.Refuted, "reproduced": study.Reproduced}
	for want, all := range map[string][]Statement{
		"* **Holds**: falls.\n* **Not tested**: “less”.\n* **Not tested**: “never”.\n": {Quote("less", "untested"),
			Paraphrase("falls", "reproduced"), Quote("never")},
		"* **Does not hold**: “less”.\n* **Does not hold**: “more”.\n": {Quote("less", "undecided", "refuted", "reproduced", "untested"),
			Quote("more", "refuted")},
		"* **Open**: “less”.\n* **Open**: “more”.\n* **Open**: “most”.\n": {Quote("less", "undecided", "reproduced"), Quote("more", "undecided"),
			Quote("most", "untested", "reproduced")},
		"": nil,
	} {
		if got := verdictLines(all, verdict); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	defer func() {
		if problem := fmt.Sprint(recover()); !strings.Contains(problem, "no claim four") {
			t.Errorf("unknown claim: got %s", problem)
		}
	}()
	verdictLines([]Statement{Quote("none", "four")}, verdict)
}

// Notebooks and the page results/beyond/README.md give each claim about later work the same verdict.
func TestVerdictsEqualThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the studies of later work")
	}
	t.Chdir("../../notebooks")
	page, verdicts := string(must.M1(os.ReadFile("results/beyond/README.md"))), laterVerdicts()
	for line := range strings.Lines(page) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "| `"), "`")
		if v, ok := verdicts[name]; ok && strings.HasPrefix(line, "| `") && strings.Count(line, " | ") == 4 {
			if !strings.Contains(line, " | "+string(v)) {
				t.Errorf("%s is %s, but the page says\n%s", name, v, line)
			}
			delete(verdicts, name)
		}
	}
	if len(verdicts) > 0 {
		t.Errorf("the page has no line of %v", verdicts)
	}
}
