// Package plot draws figures: curves of regret with their intervals, and other curves with bands, samples and points.
//
// It makes plots of gonum.org/v1/plot, which a caller may still change, and turns them into PNG and SVG. Equal data
// give equal files. A plot must not be used by two goroutines at once.
package plot

import (
	"errors"
	"fmt"
	"image/color"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ErrNothing is the cause of errors about data that have no point to draw.
var ErrNothing = errors.New("nothing to draw")

// Axes describe a figure around its data. The zero value is without texts and linear.
type Axes struct {
	Title      string
	X, Y       string  // labels, with units
	LogX, LogY bool    // points that are not positive are not drawn on such an axis
	FromZero   bool    // linear axes begin at zero when no data are negative
	MinX, MaxX float64 // where the x axis begins and ends; that of the data where both are 0
}

// Series is one object of a figure: a line, a band, sampled curves or points over common values of x. Only finite
// numbers are drawn.
type Series struct {
	Label        string // in the legend; none when empty
	X            []float64
	Y            []float64   // line or points; may be nil
	Lower, Upper []float64   // a shaded band; may be nil
	Samples      [][]float64 // thin lines, such as sampled functions
	Points       bool        // Y is drawn as points, not as a line
	Dashed       bool
	Color        color.NRGBA // zero: black for points, the palette's next for others
}

// Lines draws series over each other in their order: bands first, then samples, lines and points. The legend goes to
// the corner where it hides least. It fails when lengths differ or no point can be drawn (ErrNothing).
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
	k := &key{Style: p.Legend.TextStyle, corners: corners}
	layers := make([][]gonum.Plotter, 4)
	automatic := 0
	for _, s := range series {
		s.add(layers, k, &automatic)
	}
	for _, layer := range layers {
		p.Add(layer...)
	}
	k.makeRoom(p)
	p.Add(k)
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

// add puts the parts of the series into the layers (bands, samples, lines, points) and the legend.
func (s Series) add(layers [][]gonum.Plotter, k *key, automatic *int) {
	c, dash := s.style(automatic)
	var thumbs []gonum.Thumbnailer
	if s.hasBand() {
		band := shade{s.X, s.Lower, s.Upper, faded(c, 0.2)}
		layers[0], thumbs = append(layers[0], band), append(thumbs, band)
		k.obstacles = append(k.obstacles, band)
	}
	thin := draw.LineStyle{Color: faded(c, 0.55), Width: vg.Points(0.9)}
	for i, y := range s.Samples {
		sample := stroke{s.X, y, thin}
		layers[1], k.obstacles = append(layers[1], sample), append(k.obstacles, sample)
		if i == 0 && s.Y == nil {
			thumbs = append(thumbs, sample)
		}
	}
	switch {
	case s.Y != nil && s.Points:
		points := dots{s.X, s.Y, draw.GlyphStyle{Color: c, Radius: vg.Points(2.5), Shape: draw.CircleGlyph{}}}
		layers[3], thumbs = append(layers[3], points), append(thumbs, points)
		k.obstacles = append(k.obstacles, points)
	case s.Y != nil:
		line := stroke{s.X, s.Y, draw.LineStyle{Color: c, Width: vg.Points(lineWidth), Dashes: dash}}
		layers[2], thumbs = append(layers[2], line), append(thumbs, line)
		k.obstacles = append(k.obstacles, line)
	}
	if s.Label != "" && len(thumbs) > 0 {
		k.entries = append(k.entries, entry{s.Label, thumbs})
	}
}

// hasBand tells whether there is a band at any point; that of a single run's mean has none.
func (s Series) hasBand() bool {
	for i := range s.Lower {
		if drawable(s.Lower[i], false) && drawable(s.Upper[i], false) {
			return true
		}
	}
	return false
}

// style returns the colour and the dashes; automatic counts the series that took theirs from the palette.
func (s Series) style(automatic *int) (c color.NRGBA, dash []vg.Length) {
	c = s.Color
	switch {
	case c != color.NRGBA{}:
	case s.Points:
		c = ink
	default:
		c = Palette[*automatic%len(Palette)]
		dash = dashes[*automatic/len(Palette)%len(dashes)]
		*automatic++
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
