package layer

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// cellRequest returns the request of a page for the execution of a cell.
func cellRequest(cell string) message {
	m := message{}.answer("page", "execute_request", executeRequest{Code: "%%"})
	m.metadata = mustJSON(map[string]string{"cellId": cell})
	return m
}

// shownTexts returns the outputs of an answer in short form: their types, and their text or data.
func shownTexts(answer map[string]any) string {
	var out []string
	for _, r := range answer["outputs"].([]record) {
		var c struct {
			Name, Text, Ename string
			Data              map[string]string
		}
		_ = json.Unmarshal(r.Content, &c)
		out = append(out, strings.TrimSpace(fmt.Sprint(r.Type, " ", c.Name, c.Ename, c.Data["text/plain"], " ", c.Text)))
	}
	return strings.Join(out, "; ")
}

func TestTranscripts(t *testing.T) {
	var all transcripts
	sent := 0
	m := cellRequest("a")
	tell := func(kind string, content any) {
		all.send(m.answer("kernel", kind, content), func(message) error { sent++; return nil })
	}
	text := func(name, s string) { tell("stream", map[string]string{"name": name, "text": s}) }
	display := func(kind, id, s string) {
		tell(kind, map[string]any{"data": map[string]string{"text/plain": s}, "transient": map[string]string{"display_id": id}})
	}
	all.expect(m)
	all.begin(m.head.ID, 7)
	tell("status", state("busy"))
	text("stdout", "one ")
	text("stdout", "two")
	text("stderr", "three")
	display("display_data", "x", "first")
	display("display_data", "", "second")
	display("update_display_data", "x", "third")
	tell("comm_msg", struct{}{})
	look := func(want string) {
		t.Helper()
		if got := shownTexts(all.answer(m.head.ID)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	look("stream stdout one two; stream stderr three; display_data third; display_data second")
	tell("clear_output", map[string]bool{"wait": true})
	look("stream stdout one two; stream stderr three; display_data third; display_data second")
	text("stdout", "four")
	look("stream stdout four")
	tell("clear_output", map[string]bool{"wait": false})
	tell("error", map[string]any{"ename": "Stop"})
	if all.answer(m.head.ID)["done"] != false {
		t.Error("the answer says done before the cell has ended")
	}
	tell("status", state("idle"))
	text("stdout", "late")
	look("error Stop")
	if a := all.answer(m.head.ID); a["done"] != true || a["count"] != 7 {
		t.Errorf("answer: got %v, want done and count 7", a)
	}
	if sent != 14 {
		t.Errorf("%d messages are sent, want all 14", sent)
	}

	// A cell that is requested again has a single transcript. A cell without an id has none.
	again := cellRequest("a")
	all.expect(again)
	all.expect(message{}.answer("page", "execute_request", executeRequest{}))
	list := all.answer("")["cells"].([]*transcript)
	if len(list) != 1 || list[0].Request != again.head.ID || list[0].Session != "page" || list[0].Cell != "a" {
		t.Errorf("got cells %+v, want the second request only", list)
	}
	all.forget(again.head.ID)
	if len(all.all) != 0 || len(all.answer(again.head.ID)) != 0 {
		t.Error("the saved output is still kept")
	}
}

// Of a long output only the end is kept, and a line says so. The total is limited, and no transcript of a running cell
// is removed.
func TestTranscriptBounds(t *testing.T) {
	var all transcripts
	m := cellRequest("a")
	all.expect(m)
	tell := func(kind string, content any) {
		all.send(m.answer("kernel", kind, content), func(message) error { return nil })
	}
	line := strings.Repeat("x", 999) + "\n"
	const lines = 5000
	for i := range lines {
		tell("stream", map[string]string{"name": "stdout", "text": fmt.Sprintf("%4d %s", i, line)})
	}
	s := all.find(m.head.ID)
	if s.size > mostOfTranscript || s.size < mostOfTranscript/2 {
		t.Errorf("%d bytes are kept, want at most the maximum", s.size)
	}
	out := s.shown()
	var first, last struct{ Text string }
	_ = json.Unmarshal(out[0].Content, &first)
	_ = json.Unmarshal(out[len(out)-1].Content, &last)
	if want := fmt.Sprintf("the first %.1f MB", float64(lines*1005-len(last.Text))/1e6); !strings.Contains(first.Text, want) {
		t.Errorf("%q, want %s", first.Text, want)
	}
	if !strings.HasSuffix(last.Text, fmt.Sprintf("%4d %s", lines-1, line)) {
		t.Error("the end of the output is not kept")
	}
	picture := strings.Repeat("p", mostOfTranscript/2)
	for range 3 {
		tell("display_data", map[string]any{"data": map[string]string{"image/png": picture}})
	}
	if n := len(all.find(m.head.ID).outputs); n != 1 {
		t.Errorf("%d pictures of half the maximum each are kept", n)
	}
	for i := range 2 * mostTranscripts {
		m = cellRequest(fmt.Sprint(i))
		all.expect(m)
		tell("status", state("idle"))
	}
	if n := len(all.all); n != mostTranscripts || all.all[0].Cell != "a" {
		t.Errorf("%d cells are kept, the first one %s, want the running cell among them", n, all.all[0].Cell)
	}
}
