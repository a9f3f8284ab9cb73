package notebook

import (
	"encoding/json"
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/hypermodels/hypermodels/hyper/notebook/frontend"
)

// panel is the output of a cell with controls: the controls, a figure, and a line of status below it.
type panel struct {
	image  *frontend.Widget
	status *frontend.Widget
	box    *frontend.Widget
	output map[string]any // the first figure and its text, for pages without the kernel
}

// newPanel makes the widgets of a panel with a first figure. moved is called with the number of a control that has
// moved and its value, after show.
func newPanel(c *frontend.Conn, controls []control, first picture,
	moved func(i int, value json.RawMessage)) (panel, error) {
	var p panel
	var children, names []string
	for i, k := range controls {
		k.fields["description"] = k.key
		w, err := c.Widget(k.name, k.fields, func(field string, value json.RawMessage) {
			if field == k.field {
				moved(i, value)
			}
		})
		if err != nil {
			return p, err
		}
		children, names = append(children, w.Ref()), append(names, k.key)
	}
	var err error
	if p.image, err = c.Widget("HTML", map[string]any{"value": first.html()}, nil); err != nil {
		return p, err
	}
	if p.status, err = c.Widget("HTML", map[string]any{"value": exploreStyle + "move a control"}, nil); err != nil {
		return p, err
	}
	// The status is last, so that its changing height moves nothing else.
	p.box, err = c.Widget("VBox", map[string]any{"children": append(children, p.image.Ref(), p.status.Ref()),
		"_dom_classes": []string{exploreClass}}, nil)
	p.output = map[string]any{"text/html": first.html(),
		"text/plain": first.alt + "; controls of " + strings.Join(names, ", ")}
	return p, err
}

// show shows the panel as the output of the cell.
func (p panel) show() error { return p.box.Show(p.output) }

// update shows a figure that was begun at a time, or the error that came in its place.
func (p panel) update(now picture, err error, begun time.Time) {
	if err != nil {
		text := strings.ReplaceAll(html.EscapeString(err.Error()), "\n", "<br>")
		p.setStatus(`<span style="color:#b00020">` + text + `</span>`)
		return
	}
	_ = p.image.Set(map[string]any{"value": now.html()})
	p.setStatus(fmt.Sprintf("computed in %.2g s", time.Since(begun).Seconds()))
}

// setStatus replaces the line below the figure.
func (p panel) setStatus(text string) { _ = p.status.Set(map[string]any{"value": exploreStyle + text}) }
