package notebook

import (
	"fmt"

	"github.com/janpfeifer/must"
	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/hypermodels/hypermodels/hyper/plot"
)

// planeSize is the number of points of a grid in each direction.
const planeSize = 50

// Grid returns the points of a grid of 50 by 50 points in the square from -limit to limit, for [Plane].
func Grid(limit float64) (x [][]float32) {
	for i := range planeSize * planeSize {
		x = append(x, []float32{float32(planeAt(limit, i%planeSize)), float32(planeAt(limit, i/planeSize))})
	}
	return x
}

func planeAt(limit float64, i int) float64 { return limit * (2*float64(i)/(planeSize-1) - 1) }

// Plane draws values at the points of [Grid] as colours: 0 is blue, and most is red. Over them are data: circles for
// class 0, crosses for class 1, and so on.
func Plane(title string, limit float64, values []float32, most float64, x [][]float32, class [][]int32) *gonum.Plot {
	if len(values) != planeSize*planeSize {
		panic(fmt.Errorf("notebook.Plane: got %d values, want one for each of the %d points of Grid", len(values),
			planeSize*planeSize))
	}
	p := must.M1(plot.Lines(plot.Axes{Title: title}, plot.Series{X: []float64{-limit, limit}, Y: []float64{-limit, limit}}))
	heat := plotter.NewHeatMap(plane{limit, values}, moreland.SmoothBlueRed().Palette(100))
	heat.Min, heat.Max, heat.Rasterized = 0, most, true
	heat.Underflow, heat.Overflow = heat.Palette.Colors()[0], heat.Palette.Colors()[99]
	p.Add(heat)
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.CrossGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}}
	for i, at := range x {
		one := must.M1(plotter.NewScatter(plotter.XYs{{X: float64(at[0]), Y: float64(at[1])}}))
		one.Shape, one.Radius = shapes[int(class[i][0])%len(shapes)], vg.Points(2.5)
		p.Add(one)
	}
	return p
}

// plane is values on a grid, which a heat map reads.
type plane struct {
	limit  float64
	values []float32
}

func (p plane) Dims() (columns, rows int) { return planeSize, planeSize }
func (p plane) X(column int) float64      { return planeAt(p.limit, column) }
func (p plane) Y(row int) float64         { return planeAt(p.limit, row) }
func (p plane) Z(column, row int) float64 { return float64(p.values[row*planeSize+column]) }
