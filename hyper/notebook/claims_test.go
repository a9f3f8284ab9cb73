package notebook

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// The verdicts of a committed study are those of the table of claims before Holm's correction: appendix D, diagonal
// over Bayes by Backprop 0.783 [0.361, 1.7] over 60 runs, and linear over diagonal 2.09 [1.27, 3.43]. They say what the
// claims ask for, both bounds of those that have two, and that they are alone.
func TestVerdicts(t *testing.T) {
	t.Chdir("../../notebooks")
	const asked = " at this size, which decides nothing: the claim asks for "
	has(t, Verdicts(Studies("posterior-approximations")...),
		"| `diagonal-below-bbb`: 200 actions, 4 indices a step (ours): a diagonal ",
		" | 0.783 [0.361, 1.7] | below 1 | 60 | 0 | **undecided** |",
		" | 2.09 [1.27, 3.43] | below 1 | 60 | 0 | **refuted** |",
		"|\n\nEach claim is judged alone here.")
	has(t, Verdicts(Studies("noise-sensitivity")...),
		" | 2.44 [2.01, 2.96] | between 0.667 and 1.5 | 60 | 0 | **refuted** |",
		" at period 100000 | 1.23 [1.03, 1.47] | below 1 | 24 | 0 | **refuted** |")
	h, rows := Study("noise-sensitivity/*")
	has(t, Verdicts(Held{Header: h, Rows: rows}),
		" | 1.03 [0.888, 1.2] | below 1 | 60 | 0 | **undecided**"+asked+"24 runs of 100000 periods |")
	has(t, Verdicts(Studies("ids")[0]), " | 0.628 [0.409, 0.965] | below 1 | 40 | 0 | **reproduced**"+asked+
		"500 runs of 400 periods with size=200 sgd-steps=20 |")
}

// Claims about an agent or a setting that a study lacks are not judged; the others are.
func TestVerdictsOfHalfAStudy(t *testing.T) {
	t.Chdir("../../notebooks")
	h, rows := Study("posterior-approximations/best-[bl]*")
	got := Verdicts(Held{Header: h, Rows: rows}).String()
	if all := len(paper.PosteriorApproximations.Claims); strings.Count(got, "**not tested**") != all-1 ||
		!strings.Contains(got, "| `linear-below-bbb`: ") {
		t.Errorf("got\n%s", got)
	}
}

// Every claim of the paper's experiments is in the table of claims, once.
func TestOutcomes(t *testing.T) {
	t.Chdir("../../notebooks")
	claims := 0
	var all []lab.Experiment
	for _, name := range paper.Order {
		all = append(all, paper.Known[name])
		claims += len(paper.Known[name].Claims)
	}
	if got := strings.Count(Outcomes(all...).String(), "\n| `"); got != claims {
		t.Errorf("%d lines for %d claims", got, claims)
	}
}

// Lines are sorted by verdict, and have what the table says but for the claim's text, its cost and one seed's share.
func TestOutcomesOfATable(t *testing.T) {
	t.Chdir(t.TempDir())
	must.M(os.Mkdir("results", 0o700))
	page := `| Name: claim | Statistic | Estimate | Runs | Cost | Seed | Verdict |
| 'one': first | ratio of regret, below 1 | 0.5 [0.3, 0.9] | 24 × 10 | 480 | 39% | not tested at 24 × 100 |
| 'two': second | | | 60 × 5 | | | not tested |
| 'three': third | ratio of regret, between 0.8 and 1.25 | 1 [0.9, 1.1] | 60 × 5 | 600 | 9% | reproduced |
`
	must.M(os.WriteFile("results/README.md", []byte(strings.ReplaceAll(page, "'", "`")), 0o600))
	x := lab.Experiment{Claims: []lab.Claim{{Name: "one"}, {Name: "two"}, {Name: "three"}}}
	has(t, Outcomes(x), "\n"+
		"| `three` | ratio of regret, between 0.8 and 1.25 | 1 [0.9, 1.1] | 60 × 5 | **reproduced** |\n"+
		"| `one` | ratio of regret, below 1 | 0.5 [0.3, 0.9] | 24 × 10 | **not tested** at 24 × 100 |\n"+
		"| `two` |  |  | 60 × 5 | **not tested** |\n")
}

// Words of the paper stand in the line of their claims' verdict, and in part in several where these differ. Claims may
// be in the table of later work, and words without a claim are not tested.
func TestInShort(t *testing.T) {
	t.Chdir(t.TempDir())
	must.M(os.Mkdir("results", 0o700))
	page := `| Name: claim | Statistic | Estimate | Runs | Cost | Seed | Verdict |
| 'one': first | ratio | 0.5 | 24 | 480 | 39% | not tested at 24 × 100 |
| 'two': second | ratio | 0.5 | 24 | 480 | 39% | undecided: alone it needs some 66 runs |
| 'three': third | ratio | 1.5 | 60 | 600 | 9% | refuted |
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
	later := "| Name: claim |\n| `five`: fifth | ratio | 0.5 | 24 | 480 | 39% | reproduced |\n"
	must.M(os.WriteFile("results/beyond/README.md", []byte(later), 0o600))
	want = "* **Reproduced**: falls (`five`).\n" +
		"* **Not reproduced**: nothing.\n" +
		"* **Not tested**: “less” (`one`); “never”.\n"
	if got := InShort(Shows("falls", "five"), Says("less", "one"), Says("never")); got != want {
		t.Errorf("with a table of later work: got\n%s\nwant\n%s", got, want)
	}
	defer func() {
		if problem := fmt.Sprint(recover()); !strings.Contains(problem, "no line for the claim four") {
			t.Errorf("of a claim that is not there: %s", problem)
		}
	}()
	InShort(Says("none", "four"))
}
