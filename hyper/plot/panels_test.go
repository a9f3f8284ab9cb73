package plot

import (
	"errors"
	"image/color"
	"math"
	"reflect"
	"testing"

	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/mat"
)

func TestFunctions(t *testing.T) {
	s := Functions("f", []float64{0, 1}, [][]float32{{1, 5}, {3, 5}}, 1)
	// Mean and two population standard deviations of 1 and 3: 2 ± 2.
	if s.Y[0] != 2 || s.Lower[0] != 0 || s.Upper[0] != 4 || s.Y[1] != 5 || s.Lower[1] != 5 {
		t.Errorf("got series %+v, want 2 in [0, 4] and 5 in [5, 5]", s)
	}
	if len(s.Samples) != 1 || s.Samples[0][1] != 5 {
		t.Errorf("samples %v, want the first function", s.Samples)
	}
}

// Panels are drawn row by row. Sketches have the same pixels.
func TestPanels(t *testing.T) {
	line := must.M1(Lines(Axes{Title: "a"}, Series{X: []float64{0, 1}, Y: []float64{0, 1}}))
	square := must.M1(Heat("b", mat.NewDense(2, 2, []float64{1, 0, 0, -1}), 1, 1))
	img := decoded(Panels(2, 20, 8, 100, line, square, line)) // the last row has an empty panel
	blue := color.RGBAModel.Convert(Palette[0])
	found := false
	for x := img.Bounds().Dx() / 2; x < img.Bounds().Dx() && !found; x++ {
		found = color.RGBAModel.Convert(img.At(x, img.Bounds().Dy()/4)) == blue
	}
	if !found {
		t.Error("the upper right panel has no full blue, the colour of 1")
	}
	if !reflect.DeepEqual(decoded(Sketch(line, 8, 5, 50)), decoded(PNG(line, 8, 5, 50))) ||
		!reflect.DeepEqual(decoded(SketchPanels(2, 16, 5, 50, line, line)), decoded(Panels(2, 16, 5, 50, line, line))) {
		t.Error("the pixels of the sketch and of the figure differ")
	}
	if _, err := Panels(2, 20, 8, 100); !errors.Is(err, errNothing) {
		t.Errorf("no plots: got error %v, want errNothing", err)
	}
}

// Squares of 1 are blue, of -1 red, and of 0 white.
func TestHeat(t *testing.T) {
	p := must.M1(Heat("", mat.NewDense(3, 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, -1}), 1))
	img := picture(t, p)
	red := countNear(img, Palette[1])
	if blue := countNear(img, Palette[0]); red < 1000 || math.Abs(float64(blue)/float64(red)-2) > 0.1 {
		t.Errorf("got %d blue and %d red pixels, want twice as many blue ones", blue, red)
	}
	if _, err := Heat("", mat.NewDense(2, 3, nil), 1); err == nil {
		t.Error("matrix that is not square: got no error")
	}
}
