package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/janpfeifer/must"
	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// decoded decodes a PNG.
func decoded(data []byte, err error) image.Image {
	return must.M1(png.Decode(bytes.NewReader(must.M1(data, err))))
}

func picture(t *testing.T, p *gonum.Plot) image.Image {
	t.Helper()
	return decoded(PNG(p, 12, 8, 100))
}

// tint returns the palette's first colour with an opacity, on white.
func tint(opacity float64) color.Color { return mixed(Palette[0], 1-opacity) }

// countNear returns the number of pixels within 2 of a colour in each channel.
func countNear(img image.Image, c color.Color) (n int) {
	r, g, b, _ := c.RGBA()
	near := func(x, y uint32) bool { return math.Abs(float64(x>>8)-float64(y>>8)) <= 2 }
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if r2, g2, b2, _ := img.At(x, y).RGBA(); near(r, r2) && near(g, g2) && near(b, b2) {
				n++
			}
		}
	}
	return n
}

var x5 = []float64{0, 1, 2, 3, 4}

func TestPNGHasTheSizeAskedFor(t *testing.T) {
	p := must.M1(Lines(Axes{}, Series{X: x5, Y: x5}))
	for _, c := range []struct {
		width, height float64
		dpi           int
		w, h          int
	}{{16, 10, 200, 1260, 787}, {12.7, 7.62, 100, 500, 300}, {2.54 * 2, 2.54 * 3, 72, 144, 216}} { // cm / 2.54 x dpi
		if size := decoded(PNG(p, c.width, c.height, c.dpi)).Bounds().Size(); size != image.Pt(c.w, c.h) {
			t.Errorf("%v cm by %v cm at %d dpi: got %v, want %d by %d", c.width, c.height, c.dpi, size, c.w, c.h)
		}
	}
	for _, size := range [][2]float64{{0, 10}, {10, -1}, {math.NaN(), 10}, {1e6, 10}} {
		if _, err := PNG(p, size[0], size[1], 100); err == nil {
			t.Errorf("PNG of %v cm: got no error", size)
		}
		if _, err := svg(p, size[0], size[1]); err == nil {
			t.Errorf("SVG of %v cm: got no error", size)
		}
	}
	for _, dpi := range []int{-5, 0, 100_000} {
		if _, err := PNG(p, 16, 10, dpi); err == nil {
			t.Errorf("PNG with %d dpi: got no error", dpi)
		}
	}
}

func TestLinesDrawsEveryPart(t *testing.T) {
	up, down := []float64{2, 3, 4, 5, 6}, []float64{-2, -1, 0, 1, 2}
	p := must.M1(Lines(Axes{},
		Series{X: x5, Y: x5, Lower: down, Upper: up, Samples: [][]float64{up, down}},
		Series{X: []float64{1, 3}, Y: []float64{5, -1}, Points: true},
		Series{X: x5, Y: down, Dashed: true, Color: Gray}))
	img := picture(t, p)
	for what, c := range map[string]color.Color{"line": Palette[0], "points": ink, "dashes": Gray, "band": tint(0.2)} {
		if n := countNear(img, c); n < 40 {
			t.Errorf("%s: got %d pixels, want at least 40", what, n)
		}
	}
	if p.Y.Min >= -2 || p.Y.Max <= 6 || p.X.Min != 0 || p.X.Max != 4 {
		t.Errorf("got x from %v to %v and y from %v to %v", p.X.Min, p.X.Max, p.Y.Min, p.Y.Max)
	}
	paths := func(samples ...[]float64) int {
		text := must.M1(svg(must.M1(Lines(Axes{}, Series{X: x5, Y: x5, Samples: samples})), 16, 10))
		return bytes.Count(text, []byte("<path"))
	}
	if none, three := paths(), paths(x5, x5, x5); three != none+3 {
		t.Errorf("got %d paths without samples and %d with three, want 3 more", none, three)
	}
}

func TestLinesLeavesGaps(t *testing.T) {
	nan := math.NaN()
	whole := countNear(picture(t, must.M1(Lines(Axes{}, Series{X: x5, Y: []float64{1, 1, 1, 1, 2}}))), Palette[0])
	gap := countNear(picture(t, must.M1(Lines(Axes{}, Series{X: x5, Y: []float64{1, 1, nan, 1, 2}}))), Palette[0])
	if ratio := float64(gap) / float64(whole); ratio < 0.35 || ratio > 0.65 { // two of four pieces are missing
		t.Errorf("%v of the line is drawn, want about half", ratio)
	}
	if n := countNear(picture(t, must.M1(Lines(Axes{}, Series{X: x5[:1], Y: x5[:1]}))), Palette[0]); n < 8 {
		t.Errorf("a line of one point has %d pixels, want 8 or more", n)
	}
	void := []float64{nan, nan, nan, nan, nan} // such as the interval of a single run
	p := must.M1(Lines(Axes{}, Series{X: x5, Y: x5, Lower: void, Upper: void}))
	if n := countNear(picture(t, p), tint(0.2)); n > 30 {
		t.Errorf("a band of NaN has %d pixels", n) // some pixels of a smoothed line have the band's colour
	}
	p = must.M1(Lines(Axes{LogY: true, LogX: true}, Series{X: x5, Y: []float64{5, 0, -1, 10, 100},
		Lower: []float64{1, -1, -1, -5, 10}, Upper: []float64{9, 1, 0, 20, 150}}))
	if p.X.Min != 1 || p.Y.Min <= 0 || p.Y.Max < 150 {
		t.Errorf("logarithmic axes: got x from %v, y from %v to %v", p.X.Min, p.Y.Min, p.Y.Max)
	}
	picture(t, p)
}

func TestBandsDoNotTakeALogAxis(t *testing.T) {
	p := must.M1(Lines(Axes{LogY: true}, Series{X: []float64{1, 2}, Y: []float64{6, 60}, Lower: []float64{1e-9, 50},
		Upper: []float64{12, 70}}))
	if p.Y.Min > 2 || p.Y.Min < 1 { // a third of the lowest line, and a margin
		t.Errorf("the y axis begins at %v, want 1 to 2", p.Y.Min)
	}
}

func TestLinesErrors(t *testing.T) {
	for name, c := range map[string]struct {
		series  []Series
		nothing bool
	}{
		"nothing":      {nil, true},
		"empty":        {[]Series{{Label: "a"}}, true},
		"only x":       {[]Series{{X: x5}}, true},
		"NaN":          {[]Series{{X: []float64{1}, Y: []float64{math.NaN()}}}, true},
		"infinite":     {[]Series{{X: []float64{1}, Y: []float64{math.Inf(1)}}}, true},
		"lengths":      {[]Series{{X: x5, Y: x5[1:]}}, false},
		"half a band":  {[]Series{{X: x5, Y: x5, Lower: x5}}, false},
		"short band":   {[]Series{{X: x5, Lower: x5[1:], Upper: x5}}, false},
		"short sample": {[]Series{{X: x5, Samples: [][]float64{x5[1:]}}}, false},
	} {
		_, err := Lines(Axes{}, c.series...)
		if err == nil || errors.Is(err, errNothing) != c.nothing {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

func TestDrawingErrorsAreNoPanics(t *testing.T) {
	p := must.M1(Lines(Axes{LogY: true}, Series{X: x5, Y: []float64{1, 2, 3, 4, 5}}))
	p.Y.Min = -1 // gonum panics
	if _, err := PNG(p, 16, 10, 100); err == nil {
		t.Error("PNG of a plot that panics: got no error")
	}
	if _, err := svg(p, 16, 10); err == nil {
		t.Error("SVG of a plot that panics: got no error")
	}
}

func TestXAxisAsAskedFor(t *testing.T) {
	p := must.M1(Lines(Axes{MinX: -1, MaxX: 9}, Series{X: x5, Y: x5}))
	if p.X.Min != -1 || p.X.Max != 9 {
		t.Errorf("x from %v to %v, want -1 to 9", p.X.Min, p.X.Max)
	}
	for _, axes := range []Axes{{MinX: 2, MaxX: 1}, {MinX: 0, MaxX: 1, LogX: true}, {MinX: math.NaN(), MaxX: 1},
		{MinX: 1, MaxX: math.Inf(1)}, {MinX: 1, MaxX: 1}} {
		if _, err := Lines(axes, Series{X: x5, Y: x5}); err == nil {
			t.Errorf("axes %+v: got no error", axes)
		}
	}
}

func TestConstantData(t *testing.T) {
	for _, axes := range []Axes{{}, {LogX: true, LogY: true}, {FromZero: true}} {
		p := must.M1(Lines(axes, Series{X: []float64{3}, Y: []float64{7}, Points: true}))
		if !(p.X.Min < 3 && p.X.Max >= 3 && p.Y.Min < 7 && p.Y.Max > 7) || countNear(picture(t, p), ink) < 10 {
			t.Errorf("%+v: got x from %v to %v and y from %v to %v", axes, p.X.Min, p.X.Max, p.Y.Min, p.Y.Max)
		}
	}
}

func TestLegendHidesNothing(t *testing.T) {
	var rising, flat, falling []float64
	for _, x := range x5 {
		rising, flat, falling = append(rising, x), append(flat, 3.95), append(falling, 4-x)
	}
	c := draw.NewCanvas(new(recorder.Canvas), 13*vg.Centimeter, 7.5*vg.Centimeter)
	for name, s := range map[string]struct {
		series []Series
		want   corner
	}{
		"rising":  {[]Series{{Label: "a", X: x5, Y: rising}}, topLeft},
		"falling": {[]Series{{Label: "a", X: x5, Y: falling}}, topRight},
		"in every place": {[]Series{{Label: "a", X: x5, Y: rising}, {Label: "b", X: x5, Y: falling},
			{Label: "c", X: x5, Y: flat}}, topLeft},
	} {
		p := must.M1(Lines(Axes{}, s.series...))
		f := figure{key: key{Style: p.Legend.TextStyle, corners: []corner{topLeft, topRight, bottomLeft, bottomRight}}}
		for _, one := range s.series {
			f.add(one)
		}
		if hidden, place := f.key.best(c, p); hidden > 0 || place != s.want {
			t.Errorf("%s: hides %v points of lines at %+v, want none at %+v", name, hidden, place, s.want)
		}
	}
}

func TestSave(t *testing.T) {
	p := must.M1(Lines(Axes{X: "x < y & z"}, Series{Label: "a", X: x5, Y: x5, Lower: x5, Upper: x5}))
	dir := t.TempDir()
	for _, name := range []string{"one", "two"} {
		must.M(Save(p, filepath.Join(dir, "new", name)))
	}
	files, err := os.ReadDir(filepath.Join(dir, "new"))
	if err != nil || len(files) != 4 {
		t.Errorf("got files %v, error %v, want 4", files, err)
	}
	for _, ext := range []string{".png", ".svg"} {
		one, err1 := os.ReadFile(filepath.Join(dir, "new", "one"+ext))
		two, err2 := os.ReadFile(filepath.Join(dir, "new", "two"+ext))
		if err1 != nil || err2 != nil || !bytes.Equal(one, two) {
			t.Errorf("two drawings of a plot as %s differ (%v, %v)", ext, err1, err2)
		}
		if ext == ".svg" {
			wellFormed(t, one)
		}
	}
	if err := Save(p, filepath.Join(dir, "new", "one.png", "below a file")); err == nil {
		t.Error("Save below a file: got no error")
	}
}

func wellFormed(t *testing.T, text []byte) {
	t.Helper()
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func ExampleLines() {
	x := []float64{0, 1, 2}
	p := must.M1(Lines(Axes{X: "input x", Y: "output y"},
		Series{Label: "mean and 95% interval", X: x, Y: []float64{0, 1, 0}, Lower: []float64{-1, 0.5, -1},
			Upper: []float64{1, 1.5, 1}},
		Series{Label: "sampled functions", X: x, Samples: [][]float64{{0.2, 0.8, 0.1}, {-0.4, 1.1, 0.3}}},
		Series{Label: "data", X: []float64{1}, Y: []float64{0.9}, Points: true}))
	fmt.Println(p.X.Label.Text, p.X.Min, p.X.Max)
	// Output: input x 0 2
}
