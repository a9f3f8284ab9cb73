package plot

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/gonum/mat"
	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Heat draws a square matrix as coloured squares, with the first row on top. Values of limit and above are blue, zero
// is white, values of -limit and below are red. lines are the indices of rows and columns before which a thin line is
// drawn, for example at the beginnings of blocks.
func Heat(title string, matrix mat.Matrix, limit float64, lines ...int) (*gonum.Plot, error) {
	rows, columns := matrix.Dims()
	if rows != columns || rows == 0 || !(limit > 0) {
		return nil, fmt.Errorf("a %d x %d matrix with limit %v: give a square matrix and a positive limit", rows, columns,
			limit)
	}
	p := newPlot(Axes{Title: title})
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	p.HideAxes()
	p.Add(heat{matrix, limit, lines})
	return p, nil
}

type heat struct {
	matrix mat.Matrix
	limit  float64
	lines  []int
}

func (h heat) Plot(c draw.Canvas, _ *gonum.Plot) {
	size, _ := h.matrix.Dims()
	n := float64(size)
	side := min(c.Max.X-c.Min.X, c.Max.Y-c.Min.Y)
	left, top := c.Center().X-side/2, c.Center().Y+side/2
	at := func(row, column float64) vg.Point {
		return vg.Point{X: left + side*vg.Length(column/n), Y: top - side*vg.Length(row/n)}
	}
	for i := range size {
		for j := range size {
			r, q := float64(i), float64(j)
			c.FillPolygon(h.color(h.matrix.At(i, j)), []vg.Point{at(r, q), at(r, q+1), at(r+1, q+1), at(r+1, q)})
		}
	}
	line := draw.LineStyle{Color: Gray, Width: vg.Points(thinWidth)}
	for _, b := range append([]int{0, size}, h.lines...) {
		c.StrokeLines(line, []vg.Point{at(float64(b), 0), at(float64(b), n)},
			[]vg.Point{at(0, float64(b)), at(n, float64(b))})
	}
}

// color returns a colour between Palette's vermillion, white and Palette's blue.
func (h heat) color(v float64) color.Color {
	strength, end := math.Min(math.Abs(v)/h.limit, 1), Palette[0]
	if v < 0 {
		end = Palette[1]
	}
	return mixed(end, 1-strength)
}
