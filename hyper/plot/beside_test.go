package plot

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// Labels move as little as possible to be apart, and stay between the ends of the axis.
func TestApart(t *testing.T) {
	for name, c := range map[string]struct{ wanted, want []vg.Length }{
		"free":             {[]vg.Length{10, 30, 60}, []vg.Length{10, 30, 60}},
		"two in one place": {[]vg.Length{50, 50}, []vg.Length{45, 55}},
		"a crowd pushes":   {[]vg.Length{50, 52, 54, 90}, []vg.Length{42, 52, 62, 90}},
		"at the top":       {[]vg.Length{99, 100}, []vg.Length{90, 100}},
		"at the bottom":    {[]vg.Length{0, 0, 4}, []vg.Length{0, 10, 20}},
		"none":             {nil, nil},
	} {
		if got := apart(c.wanted, 10, 0, 100); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// Labels are next to the lines if all lines end at the end of the axis and texts have space. If one line ends earlier,
// a legend is right of the axes; if there is no space, it is in a corner.
func TestLabelsBesideLines(t *testing.T) {
	line := func(label string, y ...float64) Series { return Series{Label: label, X: x5[:len(y)], Y: y} }
	full, short := line("full", 1, 2, 3, 4, 5), line("short", 1, 2)
	for name, c := range map[string]struct {
		axes   Axes
		series []Series
		want   bool
	}{
		"to the end":        {Axes{Beside: true}, []Series{full, line("other", 5, 4, 3, 2, 1)}, true},
		"not asked for":     {Axes{}, []Series{full}, false},
		"one ends before":   {Axes{Beside: true}, []Series{full, short}, true},
		"nearly to the end": {Axes{Beside: true, MaxX: 4.05}, []Series{full}, true},
		"one is not drawn":  {Axes{Beside: true}, []Series{full, line("lost", math.NaN())}, true},
		"points":            {Axes{Beside: true}, []Series{full, {Label: "data", X: x5, Y: x5, Points: true}}, true},
		"points, no label":  {Axes{Beside: true}, []Series{full, {X: x5, Y: x5, Points: true}}, true},
		"a long label":      {Axes{Beside: true}, []Series{line(strings.Repeat("long", 12), 1, 2, 3, 4, 5)}, false},
		"a crowd of labels": {Axes{Beside: true}, slices.Repeat([]Series{full}, 13), false},
		"no label":          {Axes{Beside: true}, []Series{{X: x5, Y: x5}}, false},
	} {
		p := must.M1(Lines(c.axes, c.series...))
		_, axes := textsOf(p, 16, 10)
		if room := 16*vg.Centimeter - axes.Max.X; room > 30 != c.want {
			t.Errorf("%s: got %v points of space at the right", name, room)
		}
	}
}

// textsOf draws a plot, and returns the positions of its texts and the rectangle of the axes.
func textsOf(p *gonum.Plot, width, height vg.Length) (at map[string]vg.Point, axes vg.Rectangle) {
	var c recorder.Canvas
	canvas := draw.NewCanvas(&c, width*vg.Centimeter, height*vg.Centimeter)
	axes = p.DataCanvas(canvas).Rectangle
	p.Draw(canvas)
	at = map[string]vg.Point{}
	for _, a := range c.Actions {
		if text, ok := a.(*recorder.FillString); ok {
			at[text.String] = text.Point
		}
	}
	return at, axes
}

// A label is at the height of its line's end. If ends are close together, the texts still do not overlap.
func TestLabelsAreAtTheEnds(t *testing.T) {
	p := must.M1(Lines(Axes{Beside: true, FromZero: true}, Series{Label: "low", X: x5, Y: []float64{4, 3, 2, 1, 0}},
		Series{Label: "high", X: x5, Y: []float64{0, 1, 2, 3, 4}},
		Series{Label: "as high", X: x5, Y: []float64{0, 0, 0, 0, 4}}))
	at, axes := textsOf(p, 16, 10)
	if low := at["low"]; low.X < axes.Max.X || math.Abs(float64(low.Y-axes.Min.Y)) > 8 {
		t.Errorf("low is at %v, the axes end at %v", low, axes)
	}
	if d := math.Abs(float64(at["high"].Y - at["as high"].Y)); d < 11 {
		t.Errorf("two labels have a distance of %v points, want at least 11", d)
	}
}

// If a series does not end at the end of the axis, a legend is right of the axes. Its labels are one below the other.
func TestLegendRightOfTheAxes(t *testing.T) {
	series := []Series{{Label: "line", X: x5, Y: x5}, {Label: "short", X: x5[:2], Y: x5[:2]},
		{Label: "data", X: x5, Y: x5, Points: true}}
	for n := 2; n <= 3; n++ {
		at, axes := textsOf(must.M1(Lines(Axes{Beside: true}, series[:n]...)), 8, 6)
		for i, s := range series[:n] {
			if p := at[s.Label]; p.X < axes.Max.X || p.Y < axes.Min.Y || p.Y > axes.Max.Y {
				t.Errorf("label %s is at %v, want it beside the axes in %v", s.Label, p, axes)
			}
			if i > 0 {
				if d := at[series[i-1].Label].Y - at[s.Label].Y; d < 10 || d > 25 {
					t.Errorf("label %s is %v points below the previous one, want 10 to 25", s.Label, d)
				}
			}
		}
	}
}

var _, _ gonum.GlyphBoxer = (*endLabels)(nil), rightLegend{}
