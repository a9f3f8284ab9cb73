package plot

import (
	"math"
	"reflect"
	"slices"
	"testing"
)

func TestBars(t *testing.T) {
	p, err := Bars(Axes{Title: "policy", Y: "probability"}, []string{"A", "B", "C"}, []float64{0.2, 0.8, 0})
	if err != nil {
		t.Fatal(err)
	}
	if p.Y.Min != 0 || p.Y.Max != 0.8 {
		t.Errorf("y from %v to %v, want 0 to 0.8", p.Y.Min, p.Y.Max)
	}
	if p.X.Min > -0.5 || p.X.Max < 2.5 {
		t.Errorf("the x axis from %v to %v cuts a bar", p.X.Min, p.X.Max)
	}
	if n := countNear(picture(t, p), Palette[0]); n < 200 {
		t.Errorf("got %d pixels of bars, want at least 200", n)
	}
	for _, c := range []struct {
		names  []string
		values []float64
	}{{nil, nil}, {[]string{"A"}, []float64{1, 2}}, {[]string{"A"}, []float64{math.NaN()}},
		{[]string{"A"}, []float64{math.Inf(1)}}} {
		if _, err := Bars(Axes{}, c.names, c.values); err == nil {
			t.Errorf("names %v, values %v: got no error", c.names, c.values)
		}
	}
}

func TestNames(t *testing.T) {
	p := mustLines(t, Axes{}, Series{X: x5, Y: x5, Points: true, Color: Palette[0]})
	before := picture(t, p)
	if err := Names(p, x5, x5, []string{"one", "", "two", "three", "four"}); err != nil {
		t.Fatal(err)
	}
	if after := picture(t, p); reflect.DeepEqual(before, after) {
		t.Error("the names were not drawn")
	}
	if err := Names(p, x5, x5, []string{"one"}); err == nil {
		t.Error("one name for five points: got no error")
	}
	// Two close points: the name of the upper one is above it. The third point is far away.
	x, y := []float64{1, 1.1, 3}, []float64{1.1, 1, 1.1}
	for i, want := range []bool{true, false, false} {
		if closeBelow(p, x, y, i) != want {
			t.Errorf("another point is close below the %d-th: %v", i, !want)
		}
	}
}

func TestAddSpread(t *testing.T) {
	values := []float64{9, 1, 5, 3, 7, 2, 4, 6, 8, 10, 0, 11, 12, 13, 14, 15, 16, 17, 18, 19}
	given := slices.Clone(values)
	var s Series
	s.AddSpread(3, values)
	s.AddSpread(4, nil)
	if !slices.Equal(values, given) {
		t.Error("AddSpread changed the caller's values")
	}
	if s.X[0] != 3 || s.Y[0] != 9.5 || s.Lower[0] != 0 || s.Upper[0] != 18 {
		t.Errorf("got series %+v, want 9.5 in [0, 18] at 3", s)
	}
	if s.X[1] != 4 || !math.IsNaN(s.Y[1]) || !math.IsNaN(s.Lower[1]) || !math.IsNaN(s.Upper[1]) {
		t.Errorf("no values: got %+v", s)
	}
}
