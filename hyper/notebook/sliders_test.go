package notebook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"
	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper/plot"
)

// A page shows the first figure, draws another one when a slider moves, and shows the error of a figure that fails.
func TestSliders(t *testing.T) {
	s := &slides{sliders: []Slider{{"a", []float64{1, 2.5}, 0}, {"b", []float64{3, 4}, 1}}, values: []float64{1, 4},
		moved: make(chan struct{}, 1)}
	s.draw = func(values []float64) []*gonum.Plot {
		if values[1] == 3 {
			panic("three <is> bad")
		}
		title := map[float64]string{1: "first", 2.5: "second"}[values[0]]
		return []*gonum.Plot{must.M1(plot.Lines(plot.Axes{Title: title}, plot.Series{X: []float64{0, 1}, Y: values}))}
	}
	c, heard, say := onPage(t)
	must.M(s.open(c, must.M1(s.picture(s.values, panelsOf))))
	var sliders []string
	next := func(want string) {
		t.Helper()
		for deadline := time.After(time.Minute); ; {
			select {
			case m := <-heard:
				var body struct {
					ID   string `json:"comm_id"`
					Data struct{ State map[string]any }
				}
				must.M(json.Unmarshal(m.Content, &body))
				if m.Type == "comm_open" && body.Data.State["_model_name"] == "SelectionSliderModel" {
					sliders = append(sliders, body.ID)
				}
				if m.Type != "comm_open" && strings.Contains(string(m.Content), want) {
					return
				}
			case <-deadline:
				t.Fatalf("the page never shows %q", want)
			}
		}
	}
	next("controls of a, b")
	say(sliders[0], `{"method":"update","state":{"index":1}}`)
	next(`alt=\"second`)
	say(sliders[1], `{"method":"update","state":{"index":0}}`)
	next("three \\u0026lt;is\\u0026gt; bad")
}

func TestSliderNeedsItsPosition(t *testing.T) {
	defer func() {
		if r := fmt.Sprint(recover()); r != `slider "a" cannot begin at position 2: it has 2 values` {
			t.Errorf("got the panic %s", r)
		}
	}()
	Sliders(nil, Slider{"a", []float64{1, 2}, 2})
}

// A plane's figure has the colour of a value at its place: the first point of Grid is at the lower left.
func TestPlane(t *testing.T) {
	values := make([]float32, planeSize*planeSize)
	for i, x := range Grid(2) {
		if x[0] < 0 && x[1] < 0 {
			values[i] = 1
		}
	}
	if g := Grid(2); g[0][0] != -2 || g[0][1] != -2 || g[1][0] <= -2 || g[1][1] != -2 || g[len(g)-1][1] != 2 {
		t.Errorf("the grid is %v, %v, ..., %v", g[0], g[1], g[len(g)-1])
	}
	picture, err := png.Decode(bytes.NewReader(must.M1(plot.PNG(Plane("", 2, values, [][]float32{{1, 1}},
		[][]int32{{0}}), 10, 10, 100))))
	must.M(err)
	size := picture.Bounds().Size()
	red := func(x, y float64) bool {
		r, _, b, _ := picture.At(int(x*float64(size.X)), int(y*float64(size.Y))).RGBA()
		return r > b
	}
	if !red(0.35, 0.7) || red(0.8, 0.2) || red(0.8, 0.8) || red(0.3, 0.2) {
		t.Error("red is not at the lower left, or not there alone")
	}
}

// Shades is white at 0 and green at most, and Border draws a line between positive and negative values.
func TestShades(t *testing.T) {
	values, signs := make([]float32, planeSize*planeSize), make([]float32, planeSize*planeSize)
	for i, x := range Grid(2) {
		signs[i] = x[1]
		if x[0] < 0 {
			values[i] = 3
		}
	}
	p := Shades("", 2, values, 3, nil, nil)
	green := func() (left, right, line bool) {
		picture := must.M1(png.Decode(bytes.NewReader(must.M1(plot.PNG(p, 10, 10, 100)))))
		size := picture.Bounds().Size()
		at := func(x, y float64) (r, g, b uint32) {
			r, g, b, _ = picture.At(int(x*float64(size.X)), int(y*float64(size.Y))).RGBA()
			return r, g, b
		}
		r, g, b := at(0.3, 0.3)
		left = g > r && g > b
		r, g, b = at(0.7, 0.3)
		right = r < 0xFFFF || g < 0xFFFF || b < 0xFFFF
		for y := 0.3; y < 0.7; y += 0.002 {
			r, g, b = at(0.7, y)
			line = line || r+g+b < 0x18000
		}
		return left, right, line
	}
	if left, right, line := green(); !left || right || line {
		t.Errorf("the left is green: %v, the right is: %v, a line: %v", left, right, line)
	}
	Border(p, 2, signs)
	if _, _, line := green(); !line {
		t.Error("no line where the sign changes")
	}
}
