package plot

import (
	"cmp"
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

// Estimates holds estimates of one kind, one for each name of a figure.
type Estimates struct {
	Label  string
	Values []stats.Estimate // NaN is not drawn
	Color  color.NRGBA      // zero means the palette's next colour
}

// Size in centimetres of a small panel, for which Points makes room for its legend.
const panelWidth, panelHeight = 10, 6.5

// glyphs are the shapes of the points, one for each kind, for readers who do not see the colours.
var glyphs = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.RingGlyph{}, draw.TriangleGlyph{}, draw.BoxGlyph{}}

// Points draws estimates with their intervals above their names. Each kind has its own colour and shape, and is shifted
// a little to the side. The legend covers no estimate if there is room. Points returns an error if a kind does not have
// one estimate for each name, or if nothing can be drawn.
func Points(axes Axes, names []string, kinds ...Estimates) (*gonum.Plot, error) {
	if len(names) == 0 {
		return nil, errNothing
	}
	p, drawn := newPlot(axes), 0
	p.NominalX(names...)
	p.X.Min, p.X.Max = -0.5, float64(len(names))-0.5
	legend := &key{Style: p.Legend.TextStyle, corners: []corner{topRight, topLeft}}
	for k, kind := range kinds {
		if len(kind.Values) != len(names) {
			return nil, fmt.Errorf("%d names for %d estimates of %q: give a name for each", len(names), len(kind.Values),
				kind.Label)
		}
		beside := min(0.16, 0.8/float64(len(kinds))) * (float64(k) - float64(len(kinds)-1)/2)
		points := errorPoints{shape: glyphs[k%len(glyphs)]}
		if axes.LogY {
			points.floor = leastOf(kinds) / 2
		}
		for i, e := range kind.Values {
			if drawable(float64(e.Value), axes.LogY) {
				points.add(float64(i)+beside, e)
			}
		}
		drawn += len(points.XYs)
		if err := points.draw(p, legend, kind.Label, cmp.Or(kind.Color, Palette[k%len(Palette)])); err != nil {
			return nil, err
		}
	}
	if drawn == 0 {
		return nil, errNothing
	}
	p.Y.Min, p.Y.Max = bounds([]float64{p.Y.Min, p.Y.Max}, axes.LogY, axes.FromZero, 0.05)
	if b := legend.beside(p.X); b != nil && axes.Beside {
		p.Add(b)
		return p, nil
	}
	if len(legend.entries) > 0 {
		legend.makeRoom(p, axes.LogY, panelWidth, panelHeight)
		p.Add(legend)
	}
	return p, nil
}

// Level adds a dashed horizontal line at y to a plot, with a label above its right end. The vertical axis is extended
// to the line.
func Level(p *gonum.Plot, y float64, label string) error {
	if _, log := p.Y.Scale.(gonum.LogScale); !drawable(y, log) {
		return fmt.Errorf("a line at %v: the axis cannot show it", y)
	} else if y < p.Y.Min || y > p.Y.Max {
		p.Y.Min, p.Y.Max = bounds([]float64{p.Y.Min, p.Y.Max, y}, log, p.Y.Min == 0, 0.05)
	}
	p.Add(level{y, label, p.Legend.TextStyle})
	return nil
}

// level is the line of [Level].
type level struct {
	y     float64
	label string
	text.Style
}

// Plot implements gonum's Plotter.
func (l level) Plot(c draw.Canvas, p *gonum.Plot) {
	_, at := p.Transforms(&c)
	end := vg.Point{X: c.Max.X, Y: at(l.y)}
	c.StrokeLines(draw.LineStyle{Color: Gray, Width: vg.Points(1.2), Dashes: dashes[1]},
		[]vg.Point{{X: c.Min.X, Y: end.Y}, end})
	style := l.Style
	style.Color, style.XAlign, style.YAlign = Gray, text.XRight, text.YBottom
	c.FillText(style, end.Add(vg.Point{X: -2, Y: 2}), l.label)
}

// leastOf returns the least positive value or lower bound of estimates.
func leastOf(kinds []Estimates) float64 {
	least := math.Inf(1)
	for _, kind := range kinds {
		for _, e := range kind.Values {
			for _, x := range []float64{float64(e.Value), float64(e.Lower)} {
				if x > 0 {
					least = min(least, x)
				}
			}
		}
	}
	return least
}

// errorPoints holds points with intervals.
type errorPoints struct {
	plotter.XYs
	plotter.YErrors
	shape draw.GlyphDrawer
	floor float64 // on a logarithmic axis intervals end here, and otherwise it is 0
}

func (e *errorPoints) add(x float64, of stats.Estimate) {
	v := float64(of.Value)
	length := func(to stats.Float) float64 {
		if d := math.Abs(float64(to) - v); drawable(d, false) {
			return d
		}
		return 0
	}
	if e.floor > 0 {
		of.Lower = stats.Float(max(float64(of.Lower), e.floor))
	}
	e.XYs = append(e.XYs, plotter.XY{X: x, Y: v})
	e.YErrors = append(e.YErrors, struct{ Low, High float64 }{length(of.Lower), length(of.Upper)})
}

func (e errorPoints) draw(p *gonum.Plot, legend *key, label string, c color.NRGBA) error {
	if len(e.XYs) == 0 {
		return nil
	}
	bars, err := plotter.NewYErrorBars(e)
	if err != nil {
		return err
	}
	points, err := plotter.NewScatter(e.XYs)
	if err != nil {
		return err
	}
	bars.Color, bars.CapWidth = c, vg.Points(4)
	points.Color, points.Radius, points.Shape = c, vg.Points(3), e.shape
	p.Add(bars, points)
	for i, at := range e.XYs {
		legend.obstacles = append(legend.obstacles,
			plotter.XYs{{X: at.X, Y: at.Y - e.YErrors[i].Low}, {X: at.X, Y: at.Y + e.YErrors[i].High}, at})
	}
	if label != "" {
		legend.entries = append(legend.entries, entry{label: label, thumbs: []gonum.Thumbnailer{points}})
	}
	return nil
}
