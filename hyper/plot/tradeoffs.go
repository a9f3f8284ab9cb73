package plot

import (
	"fmt"
	"math"

	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper/analysis"
)

// Tradeoffs draws the regrets of agents against one of their costs, which has a logarithmic axis. Each agent has the
// 95% interval of its mean regret, a colour as in [Styled], and its name in the legend. A tradeoff without cost, or
// without an interval of its regret, cannot be drawn and is left out. Tradeoffs returns an error if the numbers of
// names and tradeoffs differ, and the errors of Lines.
func Tradeoffs(axes Axes, all []analysis.Tradeoff, cost func(analysis.Tradeoff) float64,
	names []string) (*gonum.Plot, error) {
	if len(names) != len(all) {
		return nil, fmt.Errorf("%d names for %d tradeoffs: give one for each", len(names), len(all))
	}
	curves := make([]analysis.Curve, len(all))
	for i, o := range all {
		curves[i] = analysis.Curve{Agent: o.Agent, Settings: o.Settings}
	}
	axes.LogX, axes.FromZero, axes.Beside = true, true, true
	axes.MinX, axes.MaxX = math.Inf(1), 0
	var series []Series
	for i, style := range styled(curves) {
		x, y := cost(all[i]), all[i].Regret
		if !drawable(x, true) || !drawable(float64(y.Upper), false) {
			continue
		}
		axes.MinX, axes.MaxX = min(axes.MinX, x/2), max(axes.MaxX, 2*x)
		series = append(series,
			Series{X: []float64{x, x}, Y: []float64{float64(y.Lower), float64(y.Upper)}, Color: style.Color},
			Series{Label: names[i], X: []float64{x}, Y: []float64{float64(y.Value)}, Points: true, Color: style.Color})
	}
	return Lines(axes, series...)
}
