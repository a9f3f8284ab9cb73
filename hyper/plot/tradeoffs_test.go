package plot

import (
	"math"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Tradeoffs that the axes cannot show are left out. Each tradeoff has the colour of its agent. It needs a name,
// and one tradeoff must remain.
func TestTradeoffs(t *testing.T) {
	at := func(agent string, regret, cost float64) analysis.Tradeoff {
		x := stats.Float(regret)
		return analysis.Tradeoff{Agent: agent, Regret: stats.Estimate{Value: x, Lower: x / 2, Upper: 2 * x}, Operations: cost}
	}
	all := []analysis.Tradeoff{at("linear", 100, 10), at("ensemble", 50, 1000), at("bbb", 80, 0),
		at("dropout", math.NaN(), 100)}
	operations := func(o analysis.Tradeoff) float64 { return o.Operations }
	names := []string{"a", "b", "c", "d"}
	p := must.M1(Tradeoffs(Axes{}, all, operations, names))
	if p.X.Min > 10 || p.X.Max < 1000 || p.Y.Min != 0 || p.Y.Max < 200 || p.Y.Max > 400 {
		t.Errorf("got axes from %v to %v and from %v to %v", p.X.Min, p.X.Max, p.Y.Min, p.Y.Max)
	}
	img := picture(t, p)
	for agent, want := range map[string]bool{"linear": true, "ensemble": true, "bbb": false, "dropout": false} {
		if got := countNear(img, styles[agent].color) > 20; got != want {
			t.Errorf("colour of %s is drawn: %v, want %v", agent, got, want)
		}
	}
	if _, err := Tradeoffs(Axes{}, all, operations, names[:2]); err == nil ||
		!strings.Contains(err.Error(), "2 names for 4 tradeoffs") {
		t.Errorf("got error %v, want one about 2 names for 4 tradeoffs", err)
	}
	if _, err := Tradeoffs(Axes{}, all[3:], operations, names[3:]); err == nil {
		t.Error("tradeoffs that cannot be shown: got no error")
	}
}
