// Package plot draws figures: curves of regret with their intervals, and other curves with bands, samples and points.
//
//	p, err := plot.Lines(plot.Axes{X: "input x", Y: "f(x)"},
//		plot.Series{Label: "mean", X: x, Y: mean, Lower: lower, Upper: upper},
//		plot.Series{Label: "data", X: dataX, Y: dataY, Points: true})
//	err = plot.Save(p, "figure") // writes figure.png and figure.svg
//
// [Lines] draws numbers, [Regret] and [Sweep] draw results of experiments, and [Points], [Bars], [Forest] and [Heat] are
// for estimates, values and matrices. [Panels] joins plots.
//
// It makes plots of gonum.org/v1/plot, which a caller may change, and converts them to PNG and SVG. Equal data give
// equal files. A plot is not safe for concurrent use.
package plot

import (
	"errors"
	"fmt"
	"image/color"
	"slices"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// errNothing is wrapped by errors about data without a point that can be drawn.
var errNothing = errors.New("nothing to draw")

// Axes describes a figure around its data. The zero value has no texts and linear axes.
type Axes struct {
	Title      string
	X, Y       string  // labels, with units
	LogX, LogY bool    // points that are not positive cannot be drawn on such an axis
	FromZero   bool    // linear axes begin at zero if no data are negative
	MinX, MaxX float64 // range of the x axis; the range of the data if both are 0
	Beside     bool    // labels are right of the axes if they fit, at the ends of lines if all reach the axis's end
}

// Series is one object of a figure: a line, a band, sampled curves or points with common values of x. Only finite
// numbers are drawn.
type Series struct {
	Label        string // in the legend; "" is none
	X            []float64
	Y            []float64   // line or points; may be nil
	Lower, Upper []float64   // a shaded band; may be nil
	Samples      [][]float64 // thin lines, such as sampled functions
	Points       bool        // Y is drawn as points, not as a line
	Dashed       bool
	Color        color.NRGBA // zero means black for points, and the palette's next colour for others
	dash         []vg.Length // see Styled
	few          bool        // the band is of few runs: the y axis follows the lines, and cuts the band off
}

// Lines draws series in order: first bands, then samples, lines and points. The legend is in the corner where it covers
// the least. Lines returns an error if lengths differ, or if no point can be drawn.
func Lines(axes Axes, series ...Series) (*gonum.Plot, error) {
	return lines(axes, []corner{topLeft, topRight, bottomLeft, bottomRight}, series)
}

func lines(axes Axes, corners []corner, series []Series) (*gonum.Plot, error) {
	var errs []error
	for i, s := range series {
		if err := s.validate(); err != nil {
			errs = append(errs, fmt.Errorf("series %d %q: %w", i, s.Label, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	p := newPlot(axes)
	if err := setRanges(p, axes, series); err != nil {
		return nil, err
	}
	f := figure{Axes: axes, least: p.Y.Min / 1e3, key: key{Style: p.Legend.TextStyle, corners: corners}}
	for _, s := range series {
		f.add(s)
	}
	for _, object := range slices.Concat(f.layers[:]...) {
		p.Add(bare{object})
	}
	if b := f.key.beside(p.X); b != nil && axes.Beside {
		p.Add(b)
		if !axes.LogX {
			p.X.Tick.Marker = linearTicks{steps: 4} // labels right of the axes leave less space
		}
		return p, nil
	}
	f.key.makeRoom(p, axes.LogY, saveWidth, saveHeight)
	p.Add(&f.key)
	return p, nil
}

func (s Series) validate() error {
	var errs []error
	check := func(what string, y []float64) {
		if y != nil && len(y) != len(s.X) {
			errs = append(errs, fmt.Errorf("%d values of x and %d of %s", len(s.X), len(y), what))
		}
	}
	check("y", s.Y)
	check("the lower bound", s.Lower)
	check("the upper bound", s.Upper)
	if (s.Lower == nil) != (s.Upper == nil) {
		errs = append(errs, errors.New("a band needs a lower and an upper bound"))
	}
	for i, y := range s.Samples {
		check(fmt.Sprintf("sample %d", i), y)
	}
	return errors.Join(errs...)
}

// bare is an object without its data range. Otherwise gonum would fit the axes to the object.
type bare struct{ gonum.Plotter }

// figure collects the drawn parts of series.
type figure struct {
	Axes
	least     float64            // lower limit of a band's bounds on a logarithmic axis
	layers    [4][]gonum.Plotter // bands, samples, lines, points
	key       key
	automatic int // number of series with a style from the palette
}

// add adds the parts of a series to the layers and the legend.
func (f *figure) add(s Series) {
	c, dash := f.style(s)
	e := entry{label: s.Label}
	lower, upper := f.edges(s, f.least)
	for i := range lower {
		band := shade(lower[i], upper[i], faded(c, 0.2))
		f.layers[0], e.thumbs = append(f.layers[0], band), []gonum.Thumbnailer{band}
	}
	f.key.obstacles = slices.Concat(f.key.obstacles, lower, upper)
	for i, y := range s.Samples {
		sample := f.line(1, s.X, y, draw.LineStyle{Color: faded(c, 0.55), Width: vg.Points(0.9)})
		if i == 0 && s.Y == nil {
			e.thumbs = append(e.thumbs, sample)
		}
	}
	switch {
	case s.Y != nil && s.Points:
		e.thumbs = append(e.thumbs, f.points(s.X, s.Y, c))
	case s.Y != nil:
		e.line, e.end = draw.LineStyle{Color: c, Width: vg.Points(lineWidth), Dashes: dash}, lastOf(f.pieces(s.X, s.Y))
		e.thumbs = append(e.thumbs, f.line(2, s.X, s.Y, e.line))
	}
	if s.Label != "" && len(e.thumbs) > 0 {
		f.key.entries = append(f.key.entries, e)
	}
}

// line adds a line to a layer, with gaps where the axes cannot show it, and returns its thumbnail.
func (f *figure) line(layer int, x, y []float64, style draw.LineStyle) gonum.Thumbnailer {
	for _, piece := range f.pieces(x, y) {
		var part gonum.Plotter = &plotter.Line{XYs: piece, LineStyle: style}
		if len(piece) == 1 { // a line of one point would not be visible
			part = &plotter.Scatter{XYs: piece, GlyphStyle: draw.GlyphStyle{Color: style.Color, Radius: style.Width,
				Shape: draw.CircleGlyph{}}}
		}
		f.layers[layer] = append(f.layers[layer], part)
		f.key.obstacles = append(f.key.obstacles, piece)
	}
	return &plotter.Line{LineStyle: style}
}

// points adds points, and returns their thumbnail.
func (f *figure) points(x, y []float64, c color.Color) gonum.Thumbnailer {
	all := &plotter.Scatter{XYs: slices.Concat(f.pieces(x, y)...),
		GlyphStyle: draw.GlyphStyle{Color: c, Radius: vg.Points(2.5), Shape: draw.CircleGlyph{}}}
	f.layers[3] = append(f.layers[3], all)
	for _, at := range all.XYs {
		f.key.obstacles = append(f.key.obstacles, plotter.XYs{at, at, at}) // a point counts as a short line
	}
	return all
}

// style returns the colour and the dashes of a series.
func (f *figure) style(s Series) (c color.NRGBA, dash []vg.Length) {
	c, dash = s.Color, s.dash
	switch {
	case c != color.NRGBA{}:
	case s.Points:
		c = ink
	default:
		c = Palette[f.automatic%len(Palette)]
		dash = dashes[f.automatic/len(Palette)%len(dashes)]
		f.automatic++
	}
	if s.Dashed {
		dash = dashes[1]
	}
	return c, dash
}

func faded(c color.NRGBA, opacity float64) color.NRGBA {
	c.A = uint8(float64(c.A) * opacity)
	return c
}
