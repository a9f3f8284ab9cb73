package plot

import (
	"math"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Offers that cannot be shown on logarithmic axes are left out. Each offer needs a name, and one offer must remain.
func TestOffers(t *testing.T) {
	at := func(regret, cost float64, place analysis.Place) analysis.Tradeoff {
		x := stats.Float(regret)
		return analysis.Tradeoff{Regret: stats.Estimate{Value: x, Lower: x / 2, Upper: 2 * x}, Operations: cost, ByOperations: place}
	}
	offers := []analysis.Tradeoff{at(100, 10, analysis.OnFrontier), at(50, 1000, analysis.Unplaced), at(80, 0, analysis.OffFrontier),
		at(math.NaN(), 100, analysis.OffFrontier)}
	operations := func(o analysis.Tradeoff) (float64, analysis.Place) { return o.Operations, o.ByOperations }
	names := []string{"a", "b", "c", "d"}
	p, err := Offers(Axes{}, offers, operations, names)
	if err != nil {
		t.Fatal(err)
	}
	if p.X.Min > 10 || p.X.Max < 1000 || p.Y.Min > 25 || p.Y.Max < 200 || p.Y.Max > 1600 {
		t.Errorf("got axes from %v to %v and from %v to %v", p.X.Min, p.X.Max, p.Y.Min, p.Y.Max)
	}
	if _, err := Offers(Axes{}, offers, operations, names[:2]); err == nil ||
		!strings.Contains(err.Error(), "2 names for 4 offers") {
		t.Errorf("got error %v, want one about 2 names for 4 offers", err)
	}
	if _, err := Offers(Axes{}, offers[3:], operations, names[3:]); err == nil {
		t.Error("offers that cannot be shown: got no error")
	}
}
