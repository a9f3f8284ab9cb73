package plot

import (
	"bytes"
	"fmt"
	"image/png"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Panels draws plots side by side, row by row, with their axes aligned: a PNG of a size in centimetres, all panels
// together, at a resolution in dots per inch.
func Panels(columns int, widthCm, heightCm float64, dpi int, plots ...*gonum.Plot) (data []byte, err error) {
	if err := checkSize(widthCm, heightCm); err != nil {
		return nil, err
	}
	if columns < 1 || len(plots) == 0 {
		return nil, fmt.Errorf("%d panels in %d columns: %w", len(plots), columns, ErrNothing)
	}
	defer recovered(&err)
	c := vgimg.NewWith(vgimg.UseWH(vg.Length(widthCm)*vg.Centimeter, vg.Length(heightCm)*vg.Centimeter),
		vgimg.UseDPI(dpi))
	rows := (len(plots) + columns - 1) / columns
	table := make([][]*gonum.Plot, rows)
	for i := range table {
		table[i] = make([]*gonum.Plot, columns) // nil is an empty place
		copy(table[i], plots[i*columns:min((i+1)*columns, len(plots))])
	}
	tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: vg.Points(12), PadY: vg.Points(12), PadTop: vg.Points(4),
		PadRight: vg.Points(6)}
	for i, row := range gonum.Align(table, tiles, draw.New(c)) {
		for j, canvas := range row {
			if table[i][j] != nil {
				table[i][j].Draw(canvas)
			}
		}
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	err = encoder.Encode(&out, c.Image())
	return out.Bytes(), err
}
