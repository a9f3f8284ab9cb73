package frontend

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
)

// A control reports the fields that the page changes, and sends the page its state as the answer to a request.
func TestWidget(t *testing.T) {
	heard, say, _ := kernel(t)
	c := must.M1(Open())
	changes := make(chan string, 10)
	w := must.M1(c.Widget("IntSlider", map[string]any{"value": 1, "description": "n"},
		func(field string, value json.RawMessage) {
			changes <- field + " " + string(value)
		}))
	models := map[string]map[string]any{}
	for range 3 {
		m := <-heard
		var open struct {
			ID   string `json:"comm_id"`
			Data struct{ State map[string]any }
		}
		must.M(json.Unmarshal(m.Content, &open))
		if m.Type != "comm_open" || string(m.Metadata) != `{"version":"2.1.0"}` {
			t.Errorf("got message %s with metadata %s, want comm_open of version 2.1.0", m.Type, m.Metadata)
		}
		models["IPY_MODEL_"+open.ID] = open.Data.State
	}
	own := models[w.Ref()]
	layout, style := models[fmt.Sprint(own["layout"])], models[fmt.Sprint(own["style"])]
	if own["_view_name"] != "IntSliderView" || own["value"] != 1. || layout["_model_name"] != "LayoutModel" ||
		style["_model_name"] != "DescriptionStyleModel" {
		t.Errorf("got slider %v, layout %v and style %v", own, layout, style)
	}
	says := func(data string) {
		say(Message{Type: "comm_msg", From: json.RawMessage(strconv.Quote(data)),
			Content: json.RawMessage(fmt.Sprintf(`{"comm_id":%q,"data":%s}`, w.comm.ID, data))})
	}
	says(`{"method":"update","state":{"value":3},"buffer_paths":[]}`)
	if got := <-changes; got != "value 3" {
		t.Error(got)
	}
	says(`"neither"`)
	says(`{"method":"request_state"}`)
	var told struct {
		Data struct{ State map[string]any }
	}
	answer := <-heard
	must.M(json.Unmarshal(answer.Content, &told))
	if want := `"{\"method\":\"request_state\"}"`; string(answer.To) != want {
		t.Errorf("the state answers %s, want %s", answer.To, want)
	}
	if told.Data.State["value"] != 3. || told.Data.State["description"] != "n" {
		t.Errorf("state after the page's change: got %v, want the value 3", told)
	}
	must.M(w.Set(map[string]any{"value": 5}))
	if m := <-heard; m.To != nil || string(m.Content) != `{"comm_id":"`+w.comm.ID+
		`","data":{"buffer_paths":[],"method":"update","state":{"value":5}}}` {
		t.Errorf("got message %s that answers %s, want an update to 5 that answers none", m.Content, m.To)
	}
	must.M(w.Show(map[string]any{"text/plain": "n"}))
	if m := <-heard; m.Type != "display_data" {
		t.Errorf("got message %s, want display_data", m.Type)
	}
	if err := c.Stay(); err == nil || !strings.Contains(err.Error(), "not the program of a cell") {
		t.Errorf("Stay outside a cell: got error %v, want one that says so", err)
	}
}
