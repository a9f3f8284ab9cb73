package plot

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"

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
		half := 0.1 * m
		if runs < 2 {
			half = math.NaN()
		}
		c.Mean, c.MeanLower, c.MeanUpper = append(c.Mean, m), append(c.MeanLower, m-half), append(c.MeanUpper, m+half)
		c.Median, c.Lower, c.Upper = append(c.Median, 0.9*m), append(c.Lower, 0.7*m), append(c.Upper, 1.2*m)
	}
	return c
}

func picture(t *testing.T, p *gonum.Plot) image.Image {
	t.Helper()
	data, err := PNG(p, 12, 8, 100)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// count returns the number of pixels that have exactly a colour.
func count(img image.Image, c color.Color) (n int) {
	r, g, b, _ := c.RGBA()
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if r2, g2, b2, _ := img.At(x, y).RGBA(); r == r2 && g == g2 && b == b2 {
				n++
			}
		}
	}
	return n
}

func mustRegret(t *testing.T, opts Options, curves ...analysis.Curve) *gonum.Plot {
	t.Helper()
	p, err := Regret(curves, opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRegretShowsCurvesAndBands(t *testing.T) {
	for _, opts := range []Options{{}, {Average: true}, {Quartiles: true}} {
		img := picture(t, mustRegret(t, opts, power("exact", 2, 10), power("linear", 4, 10)))
		for i, c := range []color.NRGBA{styles["exact"].color, styles["linear"].color} {
			if n := count(img, c); n < 300 { // a line of 2 pixels across some 380
				t.Errorf("%+v: got %d pixels in the colour of curve %d", opts, n, i)
			}
			// a fifth of the colour on white
			tint := func(x uint8) uint8 { return uint8(math.Round(255 - 0.2*(255-float64(x)))) }
			shaded := countNear(img, tint(c.R), tint(c.G), tint(c.B))
			if shaded < 1000 {
				t.Errorf("%+v: got %d pixels in the band of curve %d", opts, shaded, i)
			}
		}
		if n := count(img, Palette[1]); n != 0 {
			t.Errorf("%+v: got %d pixels in a colour without a curve", opts, n)
		}
	}
}

// countNear returns the number of pixels within 2 of a colour in each channel.
func countNear(img image.Image, r, g, b uint8) (n int) {
	close := func(a uint32, b uint8) bool { return math.Abs(float64(a>>8)-float64(b)) <= 2 }
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if r2, g2, b2, _ := img.At(x, y).RGBA(); close(r2, r) && close(g2, g) && close(b2, b) {
				n++
			}
		}
	}
	return n
}

func TestRegretOfSingleRunHasNoBand(t *testing.T) {
	img := picture(t, mustRegret(t, Options{}, power("linear", 2, 1)))
	if count(img, Palette[0]) < 300 || countNear(img, 204, 227, 240) > 30 {
		// 20% of 0072B2 on white, also seen where lines are smoothed
		t.Errorf("want a line (%d pixels) and no band (%d pixels)", count(img, Palette[0]),
			countNear(img, 204, 227, 240))
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
	if n := count(picture(t, p), Gray); n < 100 {
		t.Errorf("the target's line has %d pixels, want at least 100", n)
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
	void := power("a", math.NaN(), 0)
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
		"NaN only":              {[]analysis.Curve{void}, Options{}, true},
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

func TestRegretNamesCurvesWithoutPoints(t *testing.T) {
	void := power("lost", math.NaN(), 0)
	void.Runs, void.Diverged = 4, 4
	text, err := svg(mustRegret(t, Options{}, void, power("exact", 2, 10), analysis.Curve{Agent: "absent"}), 16, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">lost (all 4 diverged)<", ">exact<", ">absent<", ">period t<"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the SVG has no text %s", want)
		}
	}
}

// The legend has the number of runs that diverged, also if the caller gives the labels.
func TestRegretWithRunsThatDiverged(t *testing.T) {
	c := power("linear", 2, 10)
	c.Diverged = 2
	for name, opts := range map[string]Options{"linear": {}, "mine": {Labels: []string{"mine"}}} {
		text, err := svg(mustRegret(t, opts, c), 16, 10)
		if want := ">" + name + " (2 of 10 diverged)<"; err != nil || !strings.Contains(string(text), want) {
			t.Errorf("the SVG has no text %s (error %v)", want, err)
		}
	}
}

// Regret is not negative, and no band extends below zero, whatever the bound of a curve is.
func TestRegretBandsEndAtZero(t *testing.T) {
	c := power("linear", 2, 10)
	for i := range c.MeanLower {
		c.MeanLower[i], c.Lower[i] = -5, -5
	}
	for _, opts := range []Options{{}, {Quartiles: true}} {
		if p := mustRegret(t, opts, c); p.Y.Min != 0 {
			t.Errorf("%+v: the y axis begins at %v, want 0", opts, p.Y.Min)
		}
	}
}

func ExampleRegret() {
	curve := analysis.Curve{
		Agent: "exact", Periods: []int{1, 10, 100}, Mean: []float64{1, 4, 9}, MeanLower: []float64{0.8, 3.5,
			8}, MeanUpper: []float64{1.2, 4.6, 10},
		Median: []float64{1, 4, 8}, Lower: []float64{0, 3, 6}, Upper: []float64{2, 6, 11}, Runs: 20,
	}
	p, err := Regret([]analysis.Curve{curve}, Options{Title: "Gaussian bandit"})
	if err != nil {
		panic(err)
	}
	fmt.Println(p.X.Label.Text, p.X.Min, p.X.Max)
	// Output: period t 0 100
}
