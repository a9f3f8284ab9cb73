package notebook

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

func TestTable(t *testing.T) {
	table := NewTable("agent", "$\\sigma$")
	table.Row("linear", 3)
	table.Row(nil, lab.Estimate{Value: 2, Lower: 1, Upper: 3})
	table.Row("ensemble", lab.Estimate{Value: lab.Float(math.NaN())})
	table.Rowf("%s | %.2f", "exact", 0.5)
	want := "| agent | $\\sigma$ |\n|---|---|\n| linear | 3 |\n|  | 2 [1, 3] |\n| ensemble | – |\n| exact | 0.50 |\n"
	if table.String() != want {
		t.Errorf("got\n%swant\n%s", table, want)
	}
	now := shown(t)
	table.Show("**caption**")
	if d := now(); len(d) != 1 || d[0].Data[protocol.MIMETextMarkdown] != "**caption**\n\n"+want {
		t.Errorf("shown: %v", d)
	}
}

// The tables of a committed study say what the table of claims says: appendix D, diagonal over Bayes by Backprop 0.663
// [0.473, 0.928] over 24 runs, and linear over dropout 0.718 [0.49, 1.05].
func TestTablesOfAStudy(t *testing.T) {
	t.Chdir("../../notebooks")
	h, rows := Study("posterior-approximations/*")
	has(t, Verdicts(h, rows), "| not judged: not in the study: agent linear with all settings at their defaults "+
		"needs 60 runs with results at period 5000; the study has 24 runs of 1000 periods |")
	at := lab.Size{Periods: 1000, Runs: 24}
	has(t, Verdicts(h, rows, at),
		" | 0.663 [0.473, 0.928] | 1 | 24 | 0 | **reproduced**; the claim asks for 60 runs of 5000 periods |",
		" | 0.718 [0.49, 1.05] | 1 | 24 | 0 | **undecided**; the claim asks for 60 runs of 5000 periods |")
	h, rows = paper.PosteriorApproximations.Part(h, rows)
	has(t, Standings(h, rows), "| linear | 1000 | 24 | 381.8 [291.5, 500.2] | ", "mean less that of linear |")
	has(t, Contents(h, rows), "| dropout | 24 | 1000 |  |\n")
	h, rows = Study("ids/n200-*")
	has(t, Contents(h, rows), "| ids | 60 | 400 | `sgd-steps=20` `size=200` |")
	has(t, Standings(h, rows, "size"), "| ids, sgd-steps=20, size=200 | 400 | 60 | 14.82 [12.8, 17.16] | 13.5 "+
		"[12, 15] | 0 [0, 0] | -24.32 [-30.83, -17.81], 60 pairs |")
}

// The three claims about an agent that the study lacks, and four about settings that it lacks, are not judged; the
// others are.
func TestVerdictsOfHalfAStudy(t *testing.T) {
	t.Chdir("../../notebooks")
	h, rows := Study("posterior-approximations/*")
	last := len(h.Spec.Entries) - 1
	if h.Spec.Entries[last].Agent != "dropout" {
		t.Fatalf("the last agent is %s", h.Spec.Entries[last].Agent)
	}
	h.Spec.Entries = h.Spec.Entries[:last]
	rows = slices.DeleteFunc(rows, func(r lab.Row) bool { return r.Entry == last })
	if got := Verdicts(h, rows, lab.Size{Periods: 1000, Runs: 24}).String(); strings.Count(got, "not judged") != 7 ||
		strings.Count(got, "reproduced") != 1 {
		t.Errorf("got\n%s", got)
	}
}

func has(t *testing.T, table *Table, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(table.String(), w) {
			t.Errorf("no %q in\n%s", w, table)
		}
	}
}
