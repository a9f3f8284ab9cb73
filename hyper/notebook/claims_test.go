package notebook

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// Lines are sorted by verdict. They have the cells of the claims' table, with the verdict in bold.
func TestClaimsTableIsSorted(t *testing.T) {
	judge := func(name string, claimed study.Range, upper stats.Float) study.Judgement {
		c := study.Comparison{Kind: "ratio of regret", Claimed: claimed, Estimate: stats.Estimate{Value: 1, Lower: 0.9, Upper: upper},
			Periods: 5000, Runs: 60, Inside: 0.01, Outside: 0.99}
		return study.Judgement{Claim: study.Claim{Name: name, Text: "a " + name}, Finding: c.Judge()}
	}
	untested := study.Judgement{Claim: study.Claim{Name: "two", Text: "a two"}, Size: lab.Size{Periods: 5, Runs: 60},
		Finding: study.Finding{Verdict: study.NotTested}, Untested: analysis.ErrMissing}
	one, smaller := untested, judge("one", study.Below(1), 1.5)
	one.Claim, one.Smaller = smaller.Claim, &smaller
	want := "\n" +
		"| `three`: a three | ratio of regret, between 0.8 and 1.25 | 1 [0.9, 1.1] | 60 × 5,000 | **reproduced** |\n" +
		"| `one`: a one | ratio of regret, below 1 | 1 [0.9, 1.5] | 60 × 5,000 | **not tested** at 60 × 5 |\n" +
		"| `two`: a two |  |  | 60 × 5 | **not tested** |\n"
	has(t, tableOf([]study.Judgement{one, untested, judge("three", study.Within(1.25), 1.1)}), want)
}

// committed returns the answers of the committed results. It reads the results once for all tests.
var committed = sync.OnceValue(answers)

// The list has all answers or some of them, as hyper check --paper gives them.
func TestAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the studies of the paper")
	}
	t.Chdir("../../notebooks")
	if all := listOf(committed(), nil); strings.Count(all, "\n* **") != len(paper.Sentences)-1 || !strings.Contains(all,
		"* **7. The network of the theorem exists, and can be built: holds.** “linear hypermodels can represent") {
		t.Errorf("got\n%s, want all sentences", all)
	}
	if one := listOf(committed(), []int{6}); strings.Count(one, "* **") != 1 || !strings.Contains(one, "Thompson sampling: does not hold.** “") {
		t.Errorf("got\n%s, want sentence 6", one)
	}
	if rows := numbered(committed(), []int{8})[0].ComparisonsTable(); strings.Count(rows, "\n| ") != 9 {
		t.Errorf("evidence of sentence 8: want eight comparisons, got\n%s", rows)
	}
	defer func() {
		if recover() == nil {
			t.Error("sentence 11: got no panic")
		}
	}()
	numbered(committed(), []int{11})
}

// Statements are in the line of their claims' verdict, or in part in several lines if the verdicts differ. Statements
// without claims are not tested.
func TestVerdictLines(t *testing.T) {
	verdict := map[string]study.Verdict{"one": study.NotTested, "two": study.Undecided, "three": study.Refuted,
		"five": study.Reproduced}
	want := "* **Reproduced**: nothing.\n" +
		"* **Not reproduced**: *refuted*: “less” (in part: `three`); “more” (`three`). " +
		"*undecided*: “less” (in part: `two`).\n" +
		"* **Not tested**: “less” (in part: `one`).\n"
	if got := verdictLines([]Statement{Quote("less", "one", "two", "three"), Quote("more", "three")}, verdict); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want = "* **Reproduced**: falls (`five`).\n" +
		"* **Not reproduced**: nothing.\n" +
		"* **Not tested**: “less” (`one`); “never”.\n"
	if got := verdictLines([]Statement{Paraphrase("falls", "five"), Quote("less", "one"), Quote("never")}, verdict); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	defer func() {
		if problem := fmt.Sprint(recover()); !strings.Contains(problem, "no claim four") {
			t.Errorf("unknown claim: got %s", problem)
		}
	}()
	verdictLines([]Statement{Quote("none", "four")}, verdict)
}

// The table of claims has the lines of the page results/beyond/README.md, and the verdicts on statements are the same.
func TestClaimsEqualThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the studies of later work")
	}
	t.Chdir("../../notebooks")
	page, all := string(must.M1(os.ReadFile("results/beyond/README.md"))), judged(true)
	table, verdicts := tableOf(all).String(), verdictsOf(all)
	for _, j := range all {
		line := lineOf(t, table, j.Claim.Name)
		if plain := strings.ReplaceAll(line, "**", ""); plain != lineOf(t, page, j.Claim.Name) {
			t.Errorf("got\n%s\nthe page has\n%s", plain, lineOf(t, page, j.Claim.Name))
		}
		if shown := strings.Split(line, "**")[1]; shown != string(verdicts[j.Claim.Name]) {
			t.Errorf("%s is %s in the table, but %s in statements", j.Claim.Name, shown, verdicts[j.Claim.Name])
		}
	}
}

// lineOf returns the line of a claim in a table.
func lineOf(t *testing.T, table, claim string) string {
	t.Helper()
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "| `"+claim+"`") {
			return line
		}
	}
	t.Fatalf("there is no line of %s", claim)
	return ""
}
