package frontend

import (
	"encoding/json"
	"maps"
	"sync"
)

// Widget is a model of Jupyter's widgets (ipywidgets 8, protocol 2.1): a control or a box on the page. Both the page
// and the program can change its fields. The page needs jupyterlab_widgets, which is part of every Jupyter with
// ipywidgets. A Widget is safe for concurrent use.
type Widget struct {
	comm    *Comm
	mu      sync.Mutex
	state   map[string]any
	changed func(field string, value json.RawMessage)
}

// Modules of the models, and their version in ipywidgets 8.
const (
	controls = "@jupyter-widgets/controls"
	base     = "@jupyter-widgets/base"
	version  = "2.0.0"
)

// Widget makes a control, such as "IntSlider", with some fields. changed is called with each field that the page
// changes, one after the other; it may be nil. Descriptions get the width that they need.
func (c *Conn) Widget(name string, fields map[string]any, changed func(field string, value json.RawMessage)) (*Widget,
	error) {
	layout, err := c.model(map[string]any{
		"_model_module": base, "_model_module_version": version, "_model_name": "LayoutModel",
		"_view_module": base, "_view_module_version": version, "_view_name": "LayoutView"}, nil)
	if err != nil {
		return nil, err
	}
	state := map[string]any{"layout": layout.Ref(),
		"_model_module": controls, "_model_module_version": version, "_model_name": name + "Model",
		"_view_module": controls, "_view_module_version": version, "_view_name": name + "View"}
	if _, described := fields["description"]; described {
		style, err := c.model(map[string]any{"description_width": "initial",
			"_model_module": controls, "_model_module_version": version, "_model_name": "DescriptionStyleModel",
			"_view_module": base, "_view_module_version": version, "_view_name": "StyleView"}, nil)
		if err != nil {
			return nil, err
		}
		state["style"] = style.Ref()
	}
	maps.Copy(state, fields)
	return c.model(state, changed)
}

func (c *Conn) model(state map[string]any, changed func(string, json.RawMessage)) (*Widget, error) {
	w := &Widget{changed: changed, state: state}
	w.mu.Lock() // The page may answer before the comm is stored.
	defer w.mu.Unlock()
	var err error
	w.comm, err = c.Comm("jupyter.widget", map[string]any{"state": w.state, "buffer_paths": []any{}},
		map[string]any{"version": "2.1.0"}, w.hear, func() {})
	return w, err
}

// Ref returns the text by which a field of another widget refers to this one.
func (w *Widget) Ref() string { return "IPY_MODEL_" + w.comm.ID }

// Set changes fields on the page.
func (w *Widget) Set(fields map[string]any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.Copy(w.state, fields)
	return w.comm.Send(update(fields))
}

func update(fields map[string]any) map[string]any {
	return map[string]any{"method": "update", "state": fields, "buffer_paths": []any{}}
}

// Show displays the widget in the output of the cell. elsewhere has other representations by MIME type, for pages
// without widgets.
func (w *Widget) Show(elsewhere map[string]any) error {
	data := map[string]any{"application/vnd.jupyter.widget-view+json": map[string]any{
		"version_major": 2, "version_minor": 0, "model_id": w.comm.ID}}
	maps.Copy(data, elsewhere)
	return w.comm.conn.Display("", data)
}

// hear handles a message of the page.
func (w *Widget) hear(data json.RawMessage) {
	var m struct {
		Method string                     `json:"method"`
		State  map[string]json.RawMessage `json:"state"`
	}
	if json.Unmarshal(data, &m) != nil {
		return
	}
	switch m.Method {
	case "update":
		w.mu.Lock()
		for field, value := range m.State {
			w.state[field] = value
		}
		w.mu.Unlock()
		for field, value := range m.State {
			if w.changed != nil {
				w.changed(field, value)
			}
		}
	case "request_state":
		w.mu.Lock()
		defer w.mu.Unlock()
		_ = w.comm.Answer(update(w.state))
	}
}
