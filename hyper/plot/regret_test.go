package plot

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/floats"
	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// power returns a curve with regret scale t^0.4 and an interval of a tenth of that on both sides.
func power(agent string, scale float64, runs int) analysis.Curve {
	c := analysis.Curve{Agent: agent, Runs: runs, Periods: lab.Schedule(1000)}
	for _, t := range c.Periods {
		m := scale * math.Pow(float64(t), 0.4)
		c.Mean, c.MeanLower, c.MeanUpper = append(c.Mean, m), append(c.MeanLower, 0.9*m), append(c.MeanUpper, 1.1*m)
		c.Median, c.Lower, c.Upper = append(c.Median, 0.9*m), append(c.Lower, 0.7*m), append(c.Upper, 1.2*m)
	}
	return c
}

func mustRegret(t *testing.T, opts Options, curves ...analysis.Curve) *gonum.Plot {
	t.Helper()
	return must.M1(Regret(curves, opts))
}

// The options select the numbers of a curve. Regret is not negative, and no band extends below zero.
func TestRegretValues(t *testing.T) {
	c := analysis.Curve{Periods: []int{1, 10},
		Mean: []float64{3, 6}, MeanLower: []float64{-5, 4}, MeanUpper: []float64{7, 8},
		Median: []float64{2, 5}, Lower: []float64{-1, 1}, Upper: []float64{4, 9}}
	for _, want := range []struct {
		opts Options
		s    Series
	}{
		{Options{}, Series{Y: c.Mean, Lower: []float64{0, 4}, Upper: c.MeanUpper}},
		{Options{Average: true}, Series{Y: []float64{3, 0.6}, Lower: []float64{0, 0.4}, Upper: []float64{7, 0.8}}},
		{Options{Quartiles: true}, Series{Y: c.Median, Lower: []float64{0, 1}, Upper: c.Upper}},
	} {
		var got Series
		if err := got.regret(c, want.opts); err != nil || !floats.EqualApprox(got.Y, want.s.Y, 1e-12) ||
			!floats.EqualApprox(got.Lower, want.s.Lower, 1e-12) || !floats.EqualApprox(got.Upper, want.s.Upper, 1e-12) {
			t.Errorf("%+v: got %+v, error %v, want %+v", want.opts, got, err, want.s)
		}
	}
}

func TestRegretAxes(t *testing.T) {
	p := mustRegret(t, Options{}, power("exact", 2, 10))
	if p.X.Label.Text != "period t" || p.Y.Label.Text != "cumulative regret" || p.X.Min != 0 || p.X.Max != 1000 ||
		p.Y.Min != 0 {
		t.Errorf("got %q from %v to %v and %q from %v", p.X.Label.Text, p.X.Min, p.X.Max, p.Y.Label.Text, p.Y.Min)
	}
	if top := 2.2 * math.Pow(1000, 0.4); p.Y.Max < top { // the band's upper end
		t.Errorf("the axis ends at %v, want at least the end of the band, %v", p.Y.Max, top)
	}
	p = mustRegret(t, Options{Average: true, Target: 1e-3}, power("exact", 2, 10))
	if p.X.Min != 1 || p.X.Max != 1000 || p.Y.Min > 1e-3 || p.Y.Max < 2.2 {
		t.Errorf("got x from %v to %v, y from %v to %v", p.X.Min, p.X.Max, p.Y.Min, p.Y.Max)
	}
	if n := countNear(picture(t, p), Gray); n < 100 {
		t.Errorf("the target's line has %d pixels, want at least 100", n)
	}
}

// The interval of two runs may be a million times as large as the mean. The axis follows the curves then, and for more
// runs it has the whole band.
func TestRegretAxisOfFewRuns(t *testing.T) {
	for _, opts := range []Options{{}, {Average: true}} {
		few, many := power("linear", 2, 2), power("linear", 2, 6)
		for _, c := range []analysis.Curve{few, many} {
			c.MeanUpper[0] = 6e7
		}
		top := many.Mean[len(many.Mean)-1]
		if p := mustRegret(t, opts, few); p.Y.Max > 3*top {
			t.Errorf("%+v, 2 runs: the axis ends at %v, want less than three times the curve's end, %v", opts, p.Y.Max, top)
		}
		if p := mustRegret(t, opts, many); p.Y.Max < 6e7 {
			t.Errorf("%+v, 6 runs: the axis ends at %v, want the end of the band", opts, p.Y.Max)
		}
	}
}

// gonum reserves space for labels of logarithmic axes in the wrong place, see narrow.
func TestLogAxesUseTheFigure(t *testing.T) {
	p := mustRegret(t, Options{Average: true}, power("exact", 2, 10))
	size := p.DataCanvas(draw.NewCanvas(new(recorder.Canvas), 16*vg.Centimeter, 10*vg.Centimeter)).Size()
	if size.X < 12.5*vg.Centimeter || size.Y < 8*vg.Centimeter { // the rest is for tick labels, axis labels and the name
		t.Errorf("the data area has %v x %v cm, want at least 12.5 x 8 of 16 x 10",
			size.X/vg.Centimeter, size.Y/vg.Centimeter)
	}
}

func TestRegretErrors(t *testing.T) {
	negative := power("a", -1, 5)
	short := power("a", 1, 5)
	short.Mean = short.Mean[1:]
	for name, c := range map[string]struct {
		curves  []analysis.Curve
		opts    Options
		nothing bool
	}{
		"no curves":             {nil, Options{}, true},
		"no curves, a target":   {nil, Options{Average: true, Target: 1}, true},
		"a curve without rows":  {[]analysis.Curve{{Agent: "a"}}, Options{}, true},
		"nothing on a log axis": {[]analysis.Curve{negative}, Options{Average: true}, true},
		"values missing":        {[]analysis.Curve{short}, Options{}, false},
		"labels missing":        {[]analysis.Curve{power("a", 1, 5)}, Options{Labels: []string{"x", "y"}}, false},
	} {
		_, err := Regret(c.curves, c.opts)
		if err == nil || errors.Is(err, errNothing) != c.nothing {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

// The legend names curves without points, and has the number of runs that diverged, also if the caller gives the labels.
func TestRegretLabels(t *testing.T) {
	lost, some := power("lost", math.NaN(), 0), power("linear", 2, 10)
	lost.Runs, lost.Diverged, some.Diverged = 4, 4, 2
	curves := []analysis.Curve{lost, some, {Agent: "absent"}}
	for _, c := range []struct{ opts, want []string }{
		{nil, []string{"lost (all 4 diverged)", "linear (2 of 10 diverged)", "absent", "period t"}},
		{[]string{"a", "b", "c"}, []string{"a (all 4 diverged)", "b (2 of 10 diverged)", "c"}},
	} {
		text := must.M1(svg(mustRegret(t, Options{Labels: c.opts}, curves...), 16, 10))
		for _, want := range c.want {
			if !strings.Contains(string(text), ">"+want+"<") {
				t.Errorf("labels %q: the SVG has no text %q", c.opts, want)
			}
		}
	}
}

func ExampleRegret() {
	curve := analysis.Curve{
		Agent: "exact", Periods: []int{1, 10, 100}, Mean: []float64{1, 4, 9}, MeanLower: []float64{0.8, 3.5,
			8}, MeanUpper: []float64{1.2, 4.6, 10},
		Median: []float64{1, 4, 8}, Lower: []float64{0, 3, 6}, Upper: []float64{2, 6, 11}, Runs: 20,
	}
	p := must.M1(Regret([]analysis.Curve{curve}, Options{Title: "Gaussian bandit"}))
	fmt.Println(p.X.Label.Text, p.X.Min, p.X.Max)
	// Output: period t 0 100
}
