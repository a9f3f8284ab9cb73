package plot

import (
	"math"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/stats"
)

// A legend beside the axes leaves them as they are; a legend inside gets room above the estimates.
func TestPoints(t *testing.T) {
	at := func(x float64) stats.Estimate {
		return stats.Estimate{Value: stats.Float(x), Lower: stats.Float(x / 2), Upper: stats.Float(2 * x)}
	}
	kinds := []Estimates{{Label: "a kind with a name", Values: []stats.Estimate{at(4), {Value: stats.Float(math.NaN())}}},
		{Label: "another kind", Values: []stats.Estimate{at(4), at(4)}}}
	names := []string{"a", "b"}
	points := func(axes Axes) (high, space float64) {
		p := must.M1(Points(axes, names, kinds...))
		_, data := textsOf(p, 16, 10)
		return p.Y.Max, float64(16*28.35 - data.Max.X)
	}
	high, space := points(Axes{FromZero: true, Beside: true})
	if high < 8 || high > 9 || space < 40 {
		t.Errorf("legend beside: the axis ends at %v, with %v points of space", high, space)
	}
	if high, space = points(Axes{FromZero: true}); high < 9 || space > 20 {
		t.Errorf("legend inside: the axis ends at %v, with %v points of space", high, space)
	}
	reach := Estimates{Label: "to zero", Values: []stats.Estimate{{Value: 1, Lower: 0, Upper: 2}, {Value: 0, Upper: 1}}}
	if p := must.M1(Points(Axes{LogY: true}, names, reach)); !(p.Y.Min > 0.4 && p.Y.Min < 0.6) {
		t.Errorf("an interval that reaches 0 on a logarithmic axis: the axis begins at %v, want about 0.5", p.Y.Min)
	} else {
		picture(t, p)
	}
	if _, err := Points(Axes{}, names[:1], kinds...); err == nil {
		t.Error("one name for two estimates: got no error")
	}
	if _, err := Points(Axes{}, names); err == nil {
		t.Error("no estimates: got no error")
	}
}

// The axis is extended to a level, and its label is inside the axes.
func TestLevel(t *testing.T) {
	for name, c := range map[string]struct {
		axes Axes
		y    float64
		ok   bool
	}{
		"inside": {Axes{}, 3, true}, "above": {Axes{}, 9, true}, "below": {Axes{LogY: true}, 0.1, true},
		"not on a logarithmic axis": {Axes{LogY: true}, 0, false}, "not a number": {Axes{}, math.NaN(), false},
	} {
		p := must.M1(Lines(c.axes, Series{X: x5, Y: []float64{1, 2, 3, 4, 5}}))
		if err := Level(p, c.y, "target"); (err == nil) != c.ok {
			t.Errorf("%s: got error %v", name, err)
		} else if err != nil {
			continue
		}
		at, axes := textsOf(p, 16, 10)
		if label := at["target"]; p.Y.Min > c.y || p.Y.Max < c.y || label.X > axes.Max.X || label.Y > axes.Max.Y {
			t.Errorf("%s: axis from %v to %v, label at %v in %v", name, p.Y.Min, p.Y.Max, label, axes)
		}
	}
}
