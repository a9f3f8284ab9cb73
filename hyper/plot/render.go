package plot

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"slices"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// Size of a figure of [Save] in centimetres, and the resolution of its PNG in dots per inch.
const (
	saveWidth  = 16.0
	saveHeight = 10.0
	saveDPI    = 200
)

// PNG returns a PNG of a plot with a size in centimetres and a resolution in dots per inch.
func PNG(p *gonum.Plot, widthCm, heightCm float64, dpi int) ([]byte, error) {
	return raster(png.BestCompression, widthCm, heightCm, dpi, func(c draw.Canvas) { drawOn(c, p) })
}

// Sketch returns a PNG in a tenth of the time of [PNG], and with a larger file. It is for figures that are soon
// replaced.
func Sketch(p *gonum.Plot, widthCm, heightCm float64, dpi int) ([]byte, error) {
	return raster(png.BestSpeed, widthCm, heightCm, dpi, func(c draw.Canvas) { drawOn(c, p) })
}

// Panels returns a PNG of several plots, row by row, with aligned axes. The size in centimetres is the total
// size of all panels; the resolution is in dots per inch.
func Panels(columns int, widthCm, heightCm float64, dpi int, plots ...*gonum.Plot) ([]byte, error) {
	return panels(png.BestCompression, columns, widthCm, heightCm, dpi, plots...)
}

// SketchPanels is like [Panels], with the speed and the file size of [Sketch].
func SketchPanels(columns int, widthCm, heightCm float64, dpi int, plots ...*gonum.Plot) ([]byte, error) {
	return panels(png.BestSpeed, columns, widthCm, heightCm, dpi, plots...)
}

func panels(level png.CompressionLevel, columns int, widthCm, heightCm float64, dpi int, plots ...*gonum.Plot) ([]byte,
	error) {
	if columns < 1 || len(plots) == 0 {
		return nil, fmt.Errorf("%d panels in %d columns: %w", len(plots), columns, errNothing)
	}
	var table [][]*gonum.Plot
	for row := range slices.Chunk(plots, columns) {
		places := make([]*gonum.Plot, columns) // nil is an empty panel
		copy(places, row)
		table = append(table, places)
	}
	tiles := draw.Tiles{Rows: len(table), Cols: columns, PadX: vg.Points(12), PadY: vg.Points(12),
		PadTop: vg.Points(4), PadRight: vg.Points(6)}
	return raster(level, widthCm, heightCm, dpi, func(c draw.Canvas) {
		for i, row := range gonum.Align(table, tiles, c) {
			for j, canvas := range row {
				if table[i][j] != nil {
					table[i][j].Draw(canvas)
				}
			}
		}
	})
}

// raster returns a PNG of the drawing that paint makes.
func raster(level png.CompressionLevel, widthCm, heightCm float64, dpi int, paint func(draw.Canvas)) (data []byte,
	err error) {
	if err := checkSize(widthCm, heightCm); err != nil {
		return nil, err
	}
	w, h := pixels(widthCm, dpi), pixels(heightCm, dpi)
	if w < 1 || h < 1 || w*h > 100e6 {
		return nil, fmt.Errorf("a PNG of %v by %v pixels: choose a resolution that gives 1 to 100 million pixels", w, h)
	}
	defer recovered(&err)
	c := vgimg.NewWith(vgimg.UseWH(vg.Length(widthCm)*vg.Centimeter, vg.Length(heightCm)*vg.Centimeter),
		vgimg.UseDPI(dpi))
	paint(draw.New(c))
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: level}
	err = encoder.Encode(&out, c.Image())
	return out.Bytes(), err
}

// svg returns an SVG of a plot with a size in centimetres. Texts remain texts, in Liberation Sans or a similar font.
func svg(p *gonum.Plot, widthCm, heightCm float64) (data []byte, err error) {
	if err := checkSize(widthCm, heightCm); err != nil {
		return nil, err
	}
	defer recovered(&err)
	c := vgsvg.New(vg.Length(widthCm)*vg.Centimeter, vg.Length(heightCm)*vg.Centimeter)
	drawOn(draw.New(c), p)
	var out bytes.Buffer
	if _, err := c.WriteTo(&out); err != nil {
		return nil, err
	}
	const family = "font-family:Liberation Sans;"
	return bytes.ReplaceAll(out.Bytes(), []byte(family),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")), nil
}

// Save writes path.png and path.svg in the default size, each atomically.
func Save(p *gonum.Plot, path string) error {
	pixels, err := PNG(p, saveWidth, saveHeight, saveDPI)
	if err != nil {
		return err
	}
	vectors, err := svg(p, saveWidth, saveHeight)
	if err != nil {
		return err
	}
	if err := saved.WriteFile(path+".png", pixels); err != nil {
		return err
	}
	return saved.WriteFile(path+".svg", vectors)
}

// drawOn draws the plot with a margin that keeps texts off the edges.
func drawOn(c draw.Canvas, p *gonum.Plot) {
	if p.BackgroundColor != nil {
		c.SetColor(p.BackgroundColor)
		c.Fill(c.Rectangle.Path())
	}
	p.Draw(draw.Crop(c, 7, -9, 6, -7))
}

func pixels(cm float64, dpi int) float64 { return math.Round(cm / 2.54 * float64(dpi)) }

func checkSize(widthCm, heightCm float64) error {
	if !(widthCm >= 3 && widthCm <= 200 && heightCm >= 3 && heightCm <= 200) {
		return fmt.Errorf("a figure of %v cm by %v cm: both must be from 3 to 200 cm", widthCm, heightCm)
	}
	return nil
}

// recovered turns a panic of gonum into an error. gonum panics if it cannot draw axes, for example after a caller
// changed a plot.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("drawing the plot: %v", r)
	}
}
