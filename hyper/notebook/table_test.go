package notebook

import (
	"math"
	"strings"
	"testing"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

func TestTable(t *testing.T) {
	table := NewTable("agent", "$\\sigma$")
	table.Row("linear", 3)
	table.Row(nil, stats.Estimate{Value: 2, Lower: 1, Upper: 3})
	table.Row("ensemble", stats.Estimate{Value: stats.Float(math.NaN())})
	table.Rowf("%s | %.2f", "exact", 0.5)
	want := "| agent | $\\sigma$ |\n|---|---|\n| linear | 3 |\n|  | 2 [1, 3] |\n| ensemble | – |\n| exact | 0.50 |\n"
	if table.String() != want {
		t.Errorf("got\n%swant\n%s", table, want)
	}
	now := shown(t)
	table.Show("**caption**")
	if d := now(); len(d) != 1 || d[0].Data[protocol.MIMETextMarkdown] != "**caption**\n\n"+want {
		t.Errorf("got messages %v, want the table with its caption", d)
	}
}

// The tables of a committed study.
func TestTablesOfAStudy(t *testing.T) {
	t.Chdir("../../notebooks")
	h, rows := Study("posterior-approximations/best-*")
	h, rows = analysis.Select(paper.PosteriorApproximations, h, rows)
	has(t, Standings(h, rows), "| linear | 5000 | 60 | 2598 [2179, 3099] | ", "mean less that of linear |")
	h, rows = Study("ids/n200-*")
	has(t, Standings(h, rows, "size"), "| ids, sgd-steps=20, size=200 | 400 | 60 | 14.82 [12.8, 17.16] | 13.5 "+
		"[11.98, 15] | 0 [0, 0.06017] | -24.32 [-30.83, -17.81], 60 pairs |")
}

func has(t *testing.T, table *Table, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(table.String(), w) {
			t.Errorf("got no %q in\n%s", w, table)
		}
	}
}
