package plot

import (
	"math"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Offers without a place on log axes are left out; a cost, a place and a name are needed for each, and something to draw.
func TestOffers(t *testing.T) {
	at := func(regret float64) lab.Offer {
		x := lab.Float(regret)
		return lab.Offer{Regret: lab.Estimate{Value: x, Lower: x / 2, Upper: 2 * x}}
	}
	offers := []lab.Offer{at(100), at(50), at(80), at(math.Inf(1))}
	stands := []lab.Place{lab.OnFrontier, lab.OpenPlace, lab.OffIt, lab.OffIt}
	names := []string{"a", "b", "c", "d"}
	p, err := Offers(Axes{}, offers, []float64{10, 1000, 0, 100}, stands, names)
	if err != nil {
		t.Fatal(err)
	}
	if p.X.Min > 10 || p.X.Max < 1000 || p.Y.Min > 25 || p.Y.Max < 200 || p.Y.Max > 1000 {
		t.Errorf("axes from %v to %v and from %v to %v", p.X.Min, p.X.Max, p.Y.Min, p.Y.Max)
	}
	if _, err := Offers(Axes{}, offers, []float64{1, 2}, stands, names); err == nil ||
		!strings.Contains(err.Error(), "2 costs, 4 places and 4 names for 4 offers") {
		t.Errorf("error %v", err)
	}
	if _, err := Offers(Axes{}, offers[3:], []float64{1}, stands[3:], names[3:]); err == nil {
		t.Error("nothing was drawn")
	}
}
