package plot

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/janpfeifer/must"
	"gonum.org/v1/plot/vg"
)

func TestBars(t *testing.T) {
	p := must.M1(Bars(Axes{Title: "policy", Y: "probability"}, []string{"A", "B", "C"}, []float64{0.2, 0.8, 0}))
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
	p := must.M1(Lines(Axes{}, Series{X: x5, Y: x5, Points: true, Color: Palette[0]}))
	before := picture(t, p)
	must.M(Names(p, x5, x5, []string{"one", "", "two", "three", "four"}))
	if after := picture(t, p); reflect.DeepEqual(before, after) {
		t.Error("the names were not drawn")
	}
	if err := Names(p, x5, x5, []string{"one"}); err == nil {
		t.Error("one name for five points: got no error")
	}
}

// Names of close points and of points near an edge cover neither each other, nor points, nor the outside.
func TestBesides(t *testing.T) {
	size, canvas := vg.Point{X: 40, Y: 12}, vg.Rectangle{Max: vg.Point{X: 200, Y: 100}}
	points := []vg.Point{{X: 60, Y: 50}, {X: 75, Y: 58}, {X: 70, Y: 40}, {X: 195, Y: 2}}
	boxes := besides(points, []vg.Point{size, size, size, size}, canvas)
	for i, box := range boxes {
		if box.Size() != size || common(box, canvas) != float64(size.X*size.Y) {
			t.Errorf("the box of point %d is %v", i, box)
		}
		for j := range points {
			if j != i && (common(box, boxes[j]) > 0 || points[j].X > box.Min.X && points[j].X < box.Max.X &&
				points[j].Y > box.Min.Y && points[j].Y < box.Max.Y) {
				t.Errorf("the box of point %d covers point %d or its name", i, j)
			}
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
