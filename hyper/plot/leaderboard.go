package plot

import (
	"fmt"
	"maps"
	"slices"

	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/testbed"
)

// Leaderboard draws the ratios of a leaderboard with their intervals, by agent in the order of the lines, with a shape
// for each tau, since colours are of agents. The axis label names the baseline.
func Leaderboard(title, baseline string, lines []testbed.Line) (*gonum.Plot, error) {
	var agents []string
	kinds := map[int]*Estimates{}
	for _, l := range lines {
		if !slices.Contains(agents, l.Agent) {
			agents = append(agents, l.Agent)
		}
		kinds[l.Tau] = &Estimates{Label: fmt.Sprintf("τ = %d", l.Tau), Color: Gray}
	}
	for tau, kind := range kinds {
		kind.Values = slices.Repeat([]stats.Estimate{stats.NoEstimate()}, len(agents))
		for _, l := range lines {
			if l.Tau == tau {
				kind.Values[slices.Index(agents, l.Agent)] = l.Ratio
			}
		}
	}
	var all []Estimates
	for _, tau := range slices.Sorted(maps.Keys(kinds)) {
		all = append(all, *kinds[tau])
	}
	return Points(Axes{Title: title, Y: "divergence over that of " + baseline}, agents, all...)
}
