package plot

import (
	"math"
	"strings"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Model draws figure 1 of the paper. The index z is the input of the hypermodel g_nu. Its output is the parameters
// theta of the base model f_theta, which maps an input x to a prediction. The figure should be about five times as wide
// as high.
func Model() (*gonum.Plot, error) {
	const title = "A hypermodel maps an index z to the parameters of a base model"
	p, err := Lines(Axes{Title: title}, arrow(1.9, 2, 2.55, 2), box(2.6, 5.2), arrow(5.2, 2, 7.15, 2), box(7.2, 9.8),
		arrow(9.8, 2, 10.55, 2), arrow(3.9, 0.75, 3.9, 1.35), arrow(8.5, 0.75, 8.5, 1.35))
	if err != nil {
		return nil, err
	}
	p.Add(words{{0.95, 2.05, "index z,"}, {0.95, 1.65, "drawn from p_z"}, {3.9, 2.05, "hypermodel"},
		{3.9, 1.65, "g_ν"}, {6.15, 2.15, "θ = g_ν(z)"}, {8.5, 2.05, "base model"}, {8.5, 1.65, "f_θ"},
		{11.5, 2.05, "prediction"}, {11.5, 1.65, "f_θ(x)"}, {3.9, 0.35, "parameters ν, which are learned"},
		{8.5, 0.35, "input x"}})
	p.HideAxes()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.1, 12.4, 0.1, 2.8
	return p, nil
}

// path returns a line through points; at has x and y in turn.
func path(at ...float64) (s Series) {
	for i := 0; i < len(at); i += 2 {
		s.X, s.Y = append(s.X, at[i]), append(s.Y, at[i+1])
	}
	return s
}

// box returns a frame between two horizontal positions.
func box(left, right float64) Series {
	return path(left, 1.4, right, 1.4, right, 2.6, left, 2.6, left, 1.4)
}

// arrow returns a line with an arrow head.
func arrow(x0, y0, x, y float64) Series {
	length := math.Hypot(x-x0, y-y0) / 0.15
	dx, dy := (x-x0)/length, (y-y0)/length
	s := path(x0, y0, x, y, x-dx-dy/2, y-dy+dx/2, x, y, x-dx+dy/2, y-dy-dx/2)
	s.Color = Palette[6]
	return s
}

// words are texts that are centred on points. A letter after _ is a subscript.
type words []struct {
	x, y float64
	text string
}

// Plot draws the words.
func (all words) Plot(c draw.Canvas, p *gonum.Plot) {
	atX, atY := p.Transforms(&c)
	style, small := p.X.Label.TextStyle, p.X.Label.TextStyle
	style.Font.Size, small.Font.Size = 15, 10.5
	style.XAlign, small.XAlign = 0, 0
	for _, w := range all {
		x := atX(w.x) - style.Width(strings.ReplaceAll(w.text, "_", ""))/2
		for i, part := range strings.Split(w.text, "_") {
			if letters := []rune(part); i > 0 {
				c.FillText(small, vg.Point{X: x, Y: atY(w.y) - 4}, string(letters[0]))
				x, part = x+small.Width(string(letters[0])), string(letters[1:])
			}
			c.FillText(style, vg.Point{X: x, Y: atY(w.y)}, part)
			x += style.Width(part)
		}
	}
}
