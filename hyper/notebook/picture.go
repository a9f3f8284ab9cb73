package notebook

import (
	"encoding/base64"
	"fmt"
	"html"
	"math"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper/plot"
)

// picture is a figure as a notebook shows it: HTML with a PNG in it, as JupyterLab gives a PNG alone no text for those
// who cannot see it. The PNG has more pixels than the page, for screens that have them, too.
type picture struct {
	png           []byte
	width, height int // on the page, in CSS pixels
	alt           string
}

// fineness is how many pixels of a picture, in a row, one CSS pixel has.
const fineness = 2

// frame is the look of a picture, in a light page and in a dark one: a white card with a border. The sanitizer of
// JupyterLab, for notebooks that are not trusted, leaves it as it is. framing is what it adds to width and height.
const (
	frame = "box-sizing:border-box;max-width:100%;height:auto;background-color:#ffffff;border:1px solid #cccccc;" +
		"border-radius:6px;padding:4px"
	framing = 2 * (1 + 4)
)

// pictureOf draws a plot in a size in centimetres, at a resolution in dots per inch on the page.
func pictureOf(p *gonum.Plot, widthCm, heightCm float64, dpi int) (picture, error) {
	png, err := plot.PNG(p, widthCm, heightCm, fineness*dpi)
	return newPicture(png, widthCm, heightCm, dpi, p), err
}

// sketchOf is pictureOf for a figure that another one replaces soon.
func sketchOf(p *gonum.Plot, widthCm, heightCm float64, dpi int) (picture, error) {
	png, err := plot.Sketch(p, widthCm, heightCm, fineness*dpi)
	return newPicture(png, widthCm, heightCm, dpi, p), err
}

// panelsOf draws plots side by side, row by row, on one picture of a size.
func panelsOf(columns int, widthCm, heightCm float64, dpi int, plots ...*gonum.Plot) (picture, error) {
	png, err := plot.Panels(columns, widthCm, heightCm, fineness*dpi, plots...)
	return newPicture(png, widthCm, heightCm, dpi, plots...), err
}

// sketchPanelsOf is panelsOf for a figure that another one replaces soon.
func sketchPanelsOf(columns int, widthCm, heightCm float64, dpi int, plots ...*gonum.Plot) (picture, error) {
	png, err := plot.SketchPanels(columns, widthCm, heightCm, fineness*dpi, plots...)
	return newPicture(png, widthCm, heightCm, dpi, plots...), err
}

func newPicture(png []byte, widthCm, heightCm float64, dpi int, plots ...*gonum.Plot) picture {
	pixels := func(cm float64) int { return int(math.Round(cm / 2.54 * float64(dpi))) }
	return picture{png, pixels(widthCm), pixels(heightCm), plot.Alt(plots...)}
}

// html is the picture with its size, so that a page keeps room for it before it is decoded.
func (p picture) html() string {
	return fmt.Sprintf(`<img alt="%s" width="%d" height="%d" style="%s" src="data:image/png;base64,%s">`,
		html.EscapeString(p.alt), p.width+framing, p.height+framing, frame, base64.StdEncoding.EncodeToString(p.png))
}

// show displays the picture in the output of the cell.
func (p picture) show() { display(map[string]any{"text/html": p.html(), "text/plain": p.alt}) }

// display shows data by MIME type in the output of the cell, of its program or of a command in it.
func display(data map[string]any) {
	if gonbui.IsNotebook {
		typed := map[protocol.MIMEType]any{}
		for mime, content := range data {
			typed[protocol.MIMEType(mime)] = content
		}
		gonbui.SendData(&protocol.DisplayData{Data: typed})
		arrived()
	} else if c := kernel(); c != nil {
		_ = c.Display("", data)
		_ = c.Settle()
	}
}
