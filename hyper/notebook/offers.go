package notebook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/janpfeifer/must"
	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

// Offers are what the entries of results cost a period, and their regret for that, with the microseconds of those lines
// of `hyper bench study --json` that are of the same agent and settings.
func Offers(h lab.Header, rows []lab.Row, measured []lab.Offer) []lab.Offer {
	all := must.M1(lab.Offers(h, rows))
	same := func(a, b lab.Offer) bool {
		return a.Agent == b.Agent && string(must.M1(json.Marshal(a.Settings))) == string(must.M1(json.Marshal(b.Settings)))
	}
	for i, o := range all {
		if at := slices.IndexFunc(measured, func(m lab.Offer) bool { return same(o, m) }); at >= 0 {
			all[i].Micros = measured[at].Micros
		}
	}
	return all
}

// Budget is a table of offers, from cheap to dear, and two figures: regret against the operations and against the time
// of a period. Names are those of the entries; times that were not measured are left out.
func Budget(rows []lab.Row, offers []lab.Offer, names []string) (t *Table, panels []*gonum.Plot) {
	operations, micros := make([]float64, len(offers)), make([]float64, len(offers))
	timed := true
	for i, o := range offers {
		operations[i], micros[i] = o.Operations, float64(o.Micros)
		timed = timed && !math.IsNaN(micros[i])
	}
	byOperations := must.M1(lab.Frontier(rows, operations))
	axes := plot.Axes{Title: "Regret against computation", X: "operations a period, by the formula", Y: "regret"}
	panels = append(panels, must.M1(plot.Offers(axes, offers, operations, byOperations, names)))
	byTime := make([]lab.Place, len(offers))
	if timed {
		byTime = must.M1(lab.Frontier(rows, micros))
		axes.Title, axes.X = "Regret against time", "microseconds a period, one core"
		panels = append(panels, must.M1(plot.Offers(axes, offers, micros, byTime, names)))
	}
	t = NewTable("agent", "runs", "regret", "operations a period", "by operations", "µs a period", "by time")
	order := make([]int, len(offers))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(operations[a], operations[b]) })
	for _, i := range order {
		took := "–"
		if !math.IsNaN(micros[i]) {
			took = fmt.Sprintf("%.3g", micros[i])
		}
		t.Row(names[i], offers[i].Runs, offers[i].Regret, fmt.Sprintf("%.3g", operations[i]), byOperations[i], took,
			byTime[i])
	}
	return t, panels
}
