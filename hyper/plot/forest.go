package plot

import (
	"fmt"
	"image/color"
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/hypermodels/hypermodels/hyper/stats"
)

// ForestRow is a row of a forest plot: estimates, one above the other, between a label and a note at the end of the
// axis.
type ForestRow struct {
	Label, Note string
	Color       color.NRGBA
	Estimates   []stats.Estimate // a Value of NaN is not drawn, only its interval
	Main        int              // index of the estimate that is drawn emphasised
}

// Forest draws rows of estimates with their intervals, from top to bottom, on a logarithmic axis from low to high with
// a line at 1. Intervals are cut at the ends of the axis. A row without estimates only has its note. Forest returns an
// error if there are no rows, or if 1 is outside the axis.
func Forest(title, axis string, low, high float64, rows []ForestRow) (*gonum.Plot, error) {
	if len(rows) == 0 || !(0 < low && low < 1 && 1 < high) {
		return nil, fmt.Errorf("a forest plot of %d rows on an axis from %v to %v: give rows, and an axis that contains 1",
			len(rows), low, high)
	}
	p := gridless(Axes{Title: title, X: axis, LogX: true})
	p.Add(&plotter.Grid{Vertical: draw.LineStyle{Color: gridColor, Width: vg.Points(thinWidth)}})
	var labels []string
	notes := plotter.XYLabels{}
	for i := range rows {
		row, y := rows[len(rows)-1-i], float64(i)
		labels = append(labels, row.Label)
		notes.XYs, notes.Labels = append(notes.XYs, plotter.XY{X: high, Y: y + 0.1}), append(notes.Labels, row.Note)
		for k, e := range row.Estimates {
			shift := 0.0
			if n := len(row.Estimates); n > 1 {
				shift = 0.62 * (0.5 - float64(k)/float64(n-1))
			}
			if err := addEstimate(p, e, y+shift, low, high, row.Color, k == row.Main); err != nil {
				return nil, err
			}
		}
	}
	one, err := plotter.NewLine(plotter.XYs{{X: 1, Y: -0.6}, {X: 1, Y: float64(len(rows)) - 0.4}})
	if err != nil {
		return nil, err
	}
	one.Color, one.Width = ink, vg.Points(1)
	beside, err := plotter.NewLabels(notes)
	if err != nil {
		return nil, err
	}
	for i := range beside.TextStyle {
		styleText(&beside.TextStyle[i], tickSize)
		beside.TextStyle[i].XAlign, beside.TextStyle[i].YAlign = text.XRight, text.YCenter
		beside.TextStyle[i].Color = rows[len(rows)-1-i].Color
	}
	p.Add(one, beside)
	p.NominalY(labels...)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = low, high, -0.6, float64(len(rows))-0.4
	return p, nil
}

// addEstimate draws an interval, cut at the ends of the axis, and its number.
func addEstimate(p *gonum.Plot, e stats.Estimate, y, low, high float64, c color.NRGBA, main bool) error {
	cut := func(x stats.Float) float64 { return math.Min(math.Max(float64(x), low), high) }
	line, err := plotter.NewLine(plotter.XYs{{X: cut(e.Lower), Y: y}, {X: cut(e.Upper), Y: y}})
	if err != nil {
		return err
	}
	width, radius := vg.Points(1), vg.Points(1.8)
	if main {
		width, radius = vg.Points(2.4), vg.Points(3.6)
	} else {
		c.A = 0x90
	}
	line.Color, line.Width = c, width
	p.Add(line)
	value := float64(e.Value)
	if math.IsNaN(value) || value < low || value > high {
		return nil
	}
	point, err := plotter.NewScatter(plotter.XYs{{X: value, Y: y}})
	if err != nil {
		return err
	}
	point.GlyphStyle = draw.GlyphStyle{Color: c, Radius: radius, Shape: draw.CircleGlyph{}}
	p.Add(point)
	return nil
}
