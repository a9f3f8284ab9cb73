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

// picture is a figure in a notebook: HTML with a PNG in it, because JupyterLab has no alternative text for a plain PNG.
// The PNG has more pixels than the page, for screens with higher resolution.
type picture struct {
	png           []byte
	width, height int // on the page, in CSS pixels
	alt           string
}

// fineness is the number of pixels of a picture, in a row, for one CSS pixel.
const fineness = 2

// frame is the style of a picture, for light and dark pages: a white card with a border. JupyterLab's sanitizer for
// notebooks that are not trusted does not change it. framing is the width and height that it adds.
const (
	frame = "box-sizing:border-box;max-width:100%;height:auto;background-color:#ffffff;border:1px solid #cccccc;" +
		"border-radius:6px;padding:4px"
	framing = 2 * (1 + 4)
)

// pictureOf draws a plot with a size in centimetres and a resolution on the page in dots per inch.
func pictureOf(p *gonum.Plot, widthCm, heightCm float64, dpi int) (picture, error) {
	png, err := plot.PNG(p, widthCm, heightCm, fineness*dpi)
	return newPicture(png, widthCm, heightCm, dpi, p), err
}

// sketchOf is like pictureOf, for a figure that is soon replaced.
func sketchOf(p *gonum.Plot, widthCm, heightCm float64, dpi int) (picture, error) {
	png, err := plot.Sketch(p, widthCm, heightCm, fineness*dpi)
	return newPicture(png, widthCm, heightCm, dpi, p), err
}

// arrangement draws plots row by row in one picture.
type arrangement func(columns int, widthCm, heightCm float64, dpi int, plots ...*gonum.Plot) (picture, error)

// panelsOf draws plots row by row in one picture.
func panelsOf(columns int, widthCm, heightCm float64, dpi int, plots ...*gonum.Plot) (picture, error) {
	png, err := plot.Panels(columns, widthCm, heightCm, fineness*dpi, plots...)
	return newPicture(png, widthCm, heightCm, dpi, plots...), err
}

// sketchPanelsOf is like panelsOf, for a figure that is soon replaced.
func sketchPanelsOf(columns int, widthCm, heightCm float64, dpi int, plots ...*gonum.Plot) (picture, error) {
	png, err := plot.SketchPanels(columns, widthCm, heightCm, fineness*dpi, plots...)
	return newPicture(png, widthCm, heightCm, dpi, plots...), err
}

func newPicture(png []byte, widthCm, heightCm float64, dpi int, plots ...*gonum.Plot) picture {
	pixels := func(cm float64) int { return int(math.Round(cm / 2.54 * float64(dpi))) }
	return picture{png, pixels(widthCm), pixels(heightCm), plot.Alt(plots...)}
}

// html returns the picture with its size, so that a page reserves the space before it has decoded the image.
func (p picture) html() string {
	return fmt.Sprintf(`<img alt="%s" width="%d" height="%d" style="%s" src="data:image/png;base64,%s">`,
		html.EscapeString(p.alt), p.width+framing, p.height+framing, frame, base64.StdEncoding.EncodeToString(p.png))
}

// show displays the picture in the output of the cell.
func (p picture) show() { display(map[string]any{"text/html": p.html(), "text/plain": p.alt}) }

// display shows data by MIME type in the output of the cell. It works in the cell's program and in commands of the
// cell.
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
