package plot

import (
	"testing"

	gonum "gonum.org/v1/plot"
)

func TestAlt(t *testing.T) {
	titled, axes, bare := newPlot(Axes{Title: "Regret,\nmean"}), newPlot(Axes{X: "period", Y: "regret"}), newPlot(Axes{})
	for _, c := range []struct {
		plots []*gonum.Plot
		want  string
	}{
		{[]*gonum.Plot{titled}, "Regret, mean"},
		{[]*gonum.Plot{axes}, "regret against period"},
		{[]*gonum.Plot{newPlot(Axes{Y: "regret"})}, "regret"},
		{[]*gonum.Plot{newPlot(Axes{Title: "Mean", X: "period", Y: "regret"})}, "Mean: regret against period"},
		{[]*gonum.Plot{titled, nil, axes, bare, titled}, "Regret, mean; regret against period"},
		{[]*gonum.Plot{bare}, "Figure without a title"},
		{nil, "Figure without a title"},
	} {
		if got := Alt(c.plots...); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
