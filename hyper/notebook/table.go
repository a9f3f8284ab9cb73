package notebook

import (
	"fmt"
	"math"
	"strings"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/plot"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Table is a Markdown table.
type Table struct{ text strings.Builder }

// NewTable returns a table without rows. Cells may contain Markdown and formulas; a bar in a cell is written \|.
func NewTable(head ...string) *Table {
	t := &Table{}
	t.Rowf("%s", strings.Join(head, " | "))
	t.text.WriteString(strings.Repeat("|---", len(head)) + "|\n")
	return t
}

// Row adds a row. A nil cell is empty, and an estimate without a value is a dash.
func (t *Table) Row(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = fmt.Sprint(c)
		if e, ok := c.(stats.Estimate); ok && math.IsNaN(float64(e.Value)) {
			texts[i] = "–"
		} else if c == nil {
			texts[i] = ""
		}
	}
	t.Rowf("%s", strings.Join(texts, " | "))
}

// Rowf adds a row. In the format, bars separate the cells: "%s | %.2f | %.2f".
func (t *Table) Rowf(format string, args ...any) {
	t.text.WriteString("| " + fmt.Sprintf(format, args...) + " |\n")
}

// String returns the table in Markdown.
func (t *Table) String() string { return t.text.String() }

// Show shows the table, after a caption in Markdown if one is given.
func (t *Table) Show(caption ...string) {
	ShowMarkdown(strings.Join(append(caption, t.String()), "\n\n"))
}

// ShowMarkdown shows text in Markdown.
func ShowMarkdown(text string) { display(map[string]any{"text/markdown": text}) }

// Standings returns a table of the results of each entry, as [analysis.Compare] computes them, with 95% intervals in
// brackets. Names have the settings in which entries differ, the settings in keys, and the number of runs that
// diverged. Results must be of experiments of the paper or of later work.
func Standings(h lab.Header, rows []lab.Row, keys ...string) *Table {
	all := must.M1(analysis.Compare(h, rows, must.M1(lab.Find(Known, h.Spec.Experiment)).Failure))
	names := plot.Labels(analysis.Curves(h, rows), keys...)
	t := NewTable("agent", "periods", "runs", "mean regret", "median", "failed", "mean less that of "+names[0])
	for i, s := range all {
		difference := "–"
		if s.Pairs > 0 {
			difference = fmt.Sprintf("%v, %d pairs", s.Difference, s.Pairs)
		}
		t.Row(names[i], s.Period, s.Runs, s.Mean, s.Median, s.Failed, difference)
	}
	return t
}
