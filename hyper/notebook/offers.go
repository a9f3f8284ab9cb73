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

// Offers returns the cost of a period and the regret of each entry of results. The microseconds come from those lines
// of `hyper bench study --json` that have the same agent and settings.
func Offers(h lab.Header, rows []lab.Row, measured []analysis.Tradeoff) []analysis.Tradeoff {
	micros := make([]float64, len(h.Spec.Entries))
	for i, e := range h.Spec.Entries {
		micros[i] = math.NaN()
		if m, ok := analysis.FindTradeoff(measured, e); ok {
			micros[i] = float64(m.Micros)
		}
	}
	return must.M1(analysis.Tradeoffs(h, rows, micros))
}

// Budget returns a table of offers, from cheap to expensive, and two figures: regret against operations and regret
// against time of a period. names are the names of the offers. If times are missing there is only the first figure.
func Budget(offers []analysis.Tradeoff, names []string) (t *Table, panels []*gonum.Plot) {
	axes := plot.Axes{Title: "Regret against computation", X: "operations a period, by the formula", Y: "regret"}
	operations := func(o analysis.Tradeoff) (float64, analysis.Place) { return o.Operations, o.ByOperations }
	panels = append(panels, must.M1(plot.Offers(axes, offers, operations, names)))
	if !slices.ContainsFunc(offers, func(o analysis.Tradeoff) bool { return o.ByTime == "" }) {
		axes.Title, axes.X = "Regret against time", "microseconds a period, one core"
		time := func(o analysis.Tradeoff) (float64, analysis.Place) { return float64(o.Micros), o.ByTime }
		panels = append(panels, must.M1(plot.Offers(axes, offers, time, names)))
	}
	t = NewTable("agent", "runs", "regret", "operations a period", "by operations", "µs a period", "by time")
	order := make([]int, len(offers))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(offers[a].Operations, offers[b].Operations) })
	for _, i := range order {
		o, took := offers[i], "–"
		if !math.IsNaN(float64(o.Micros)) {
			took = fmt.Sprintf("%.3g", float64(o.Micros))
		}
		t.Row(names[i], o.Runs, o.Regret, fmt.Sprintf("%.3g", o.Operations), o.ByOperations, took, o.ByTime)
	}
	return t, panels
}
