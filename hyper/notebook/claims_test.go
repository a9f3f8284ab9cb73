package notebook

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// Every claim of the paper's experiments that is not part of a sentence is in the table of claims exactly once.
func TestOutcomes(t *testing.T) {
	t.Chdir("../../notebooks")
	claims := 0
	var all []lab.Experiment
	for _, name := range paper.Order {
		all = append(all, paper.Known[name])
		for _, c := range paper.Claims[name] {
			if c.Sentence == 0 {
				claims++
			}
		}
	}
	if got := strings.Count(Outcomes(all...).String(), "\n| `"); got != claims {
		t.Errorf("got %d lines for %d claims", got, claims)
	}
}

// Lines are sorted by verdict, and have the cells of the table.
func TestOutcomesOfATable(t *testing.T) {
	t.Chdir(t.TempDir())
	must.M(os.Mkdir("results", 0o700))
	page := `| Name: claim | Statistic | Estimate | Runs | Verdict |
| 'one': first | ratio of regret, below 1 | 0.5 [0.3, 0.9] | 24 × 10 | not tested at 24 × 100 |
| 'two': second | | | 60 × 5 | not tested |
| 'three': third | ratio of regret, between 0.8 and 1.25 | 1 [0.9, 1.1] | 60 × 5 | reproduced |
`
	must.M(os.WriteFile("results/README.md", []byte(strings.ReplaceAll(page, "'", "`")), 0o600))
	claims := []study.Claim{{Name: "one", Text: "first"}, {Name: "two", Text: "second"},
		{Name: "three", Text: "third"}, {Name: "four", Sentence: 8}}
	has(t, outcomes(claims), "\n"+
		"| `three`: third | ratio of regret, between 0.8 and 1.25 | 1 [0.9, 1.1] | 60 × 5 | **reproduced** |\n"+
		"| `one`: first | ratio of regret, below 1 | 0.5 [0.3, 0.9] | 24 × 10 | **not tested** at 24 × 100 |\n"+
		"| `two`: second |  |  | 60 × 5 | **not tested** |\n")
}

// Answers and evidence equal the output of hyper check --paper.
func TestAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the study four times")
	}
	t.Chdir("../../notebooks")
	if all := Answers(); strings.Count(all, "\n* **") != len(paper.Sentences)-1 || !strings.Contains(all,
		"* **7. The network of the theorem exists, and can be built: holds.** “linear hypermodels can represent") {
		t.Errorf("Answers(): got\n%s, want all sentences", all)
	}
	if one := Answers(6); strings.Count(one, "* **") != 1 || !strings.Contains(one, "Thompson sampling: does not hold.** “") {
		t.Errorf("Answers(6): got\n%s, want sentence 6", one)
	}
	if rows := Evidence(8); strings.Count(rows, "\n| ") != 9 {
		t.Errorf("evidence of sentence 8: want eight comparisons, got\n%s", rows)
	}
	defer func() {
		if recover() == nil {
			t.Error("Answers(11): got no panic")
		}
	}()
	Answers(11)
}

// Statements of the paper are in the line of their claims' verdict, or in part in several lines if the verdicts differ.
// Claims may be in the table of later work. Statements without claims are not tested.
func TestInShort(t *testing.T) {
	t.Chdir(t.TempDir())
	must.M(os.Mkdir("results", 0o700))
	page := `| Name: claim | Statistic | Estimate | Runs | Verdict |
| 'one': first | ratio | 0.5 | 24 | not tested at 24 × 100 |
| 'two': second | ratio | 0.5 | 24 | undecided: alone it needs some 66 runs |
| 'three': third | ratio | 1.5 | 60 | refuted |
`
	must.M(os.WriteFile("results/README.md", []byte(strings.ReplaceAll(page, "'", "`")), 0o600))
	want := "* **Reproduced**: nothing.\n" +
		"* **Not reproduced**: *refuted*: “less” (in part: `three`); “more” (`three`). " +
		"*undecided*: “less” (in part: `two`).\n" +
		"* **Not tested**: “less” (in part: `one`).\n"
	if got := InShort(Says("less", "one", "two", "three"), Says("more", "three")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	must.M(os.Mkdir("results/beyond", 0o700))
	later := "| Name: claim |\n| `five`: fifth | ratio | 0.5 | 24 | reproduced |\n"
	must.M(os.WriteFile("results/beyond/README.md", []byte(later), 0o600))
	want = "* **Reproduced**: falls (`five`).\n" +
		"* **Not reproduced**: nothing.\n" +
		"* **Not tested**: “less” (`one`); “never”.\n"
	if got := InShort(Shows("falls", "five"), Says("less", "one"), Says("never")); got != want {
		t.Errorf("with a table of later work: got\n%s\nwant\n%s", got, want)
	}
	defer func() {
		if problem := fmt.Sprint(recover()); !strings.Contains(problem, "no line for the claim four") {
			t.Errorf("unknown claim: got %s", problem)
		}
	}()
	InShort(Says("none", "four"))
}
