package notebook

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Lines are ordered from cheap to expensive. A time belongs to the same agent and settings. If a time is missing there
// is no figure of times.
func TestTradeoffReport(t *testing.T) {
	h, rows := must.M2(analysis.Read(paper.Known, must.M1(filepath.Glob("../../notebooks/results/neural/*.gz"))...))
	h, rows = analysis.Select(paper.Neural, h, rows, "actions=200", "particles=10,100")
	var measured []analysis.Tradeoff
	for i, o := range must.M1(analysis.Tradeoffs(h, rows, nil)) {
		o.Micros = stats.Float(400 + i)
		var read analysis.Tradeoff
		must.M(json.Unmarshal(must.M1(json.Marshal(o)), &read))
		measured = append(measured, read)
	}
	names := []string{"small", "large"}
	for n, panels := range []int{1, 1, 2} {
		all := Tradeoffs(h, rows, measured[:n])
		table, figures := TradeoffReport(all, names)
		if len(figures) != panels {
			t.Errorf("%d times: %d figures, want %d", n, len(figures), panels)
		}
		text := table.String()
		if small, large := strings.Index(text, "small"), strings.Index(text, "large"); small < 0 || large < small {
			t.Errorf("the lines of the table are not ordered by computation:\n%s", text)
		}
		if got := strings.Count(text, "| 40"); got != n {
			t.Errorf("got %d times, want %d:\n%s", got, n, text)
		}
	}
}
