package notebook

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/janpfeifer/must"
	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

// Tradeoffs returns the cost of a period and the regret of each entry of results. The microseconds come from those lines
// of `hyper bench study --json` that have the same agent and settings.
func Tradeoffs(h lab.Header, rows []lab.Row, measured []analysis.Tradeoff) []analysis.Tradeoff {
	micros := make([]float64, len(h.Spec.Entries))
	for i, e := range h.Spec.Entries {
		micros[i] = math.NaN()
		if m, ok := analysis.FindTradeoff(measured, e); ok {
			micros[i] = float64(m.Micros)
		}
	}
	return must.M1(analysis.Tradeoffs(h, rows, micros))
}

// TradeoffReport returns a table of tradeoffs, from cheap to expensive, and two figures: regret against operations and regret
// against time of a period. names are the names of the entries. If times are missing there is only the first figure.
func TradeoffReport(all []analysis.Tradeoff, names []string) (t *Table, panels []*gonum.Plot) {
	axes := plot.Axes{Title: "Regret against computation", X: "operations of a period, by the formula", Y: "mean regret"}
	operations := func(o analysis.Tradeoff) float64 { return o.Operations }
	panels = append(panels, must.M1(plot.Tradeoffs(axes, all, operations, names)))
	if !slices.ContainsFunc(all, func(o analysis.Tradeoff) bool { return o.ByTime == "" }) {
		axes.Title, axes.X = "Regret against time", "microseconds of a period, one core"
		time := func(o analysis.Tradeoff) float64 { return float64(o.Micros) }
		panels = append(panels, must.M1(plot.Tradeoffs(axes, all, time, names)))
	}
	t = NewTable("agent", "runs", "regret", "operations a period", "by operations", "µs a period", "by time")
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[a].Operations, all[b].Operations) })
	for _, i := range order {
		o, took := all[i], "–"
		if !math.IsNaN(float64(o.Micros)) {
			took = fmt.Sprintf("%.3g", float64(o.Micros))
		}
		t.Row(names[i], o.Runs, o.Regret, fmt.Sprintf("%.3g", o.Operations), o.ByOperations, took, o.ByTime)
	}
	return t, panels
}
