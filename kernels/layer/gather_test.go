package layer

import (
	"testing"
	"time"
)

// A thousand lines become few messages, in order, and no text waits longer than it must.
func TestGathering(t *testing.T) {
	sent := make(chan message, 2000)
	g := gathering{pass: func(m message) { sent <- m }}
	say := func(name, line string) {
		g.send(message{}.answer("", "stream", map[string]string{"name": name, "text": line}))
	}
	for range 1000 {
		say("stdout", "line\n")
	}
	say("stderr", "oops\n")
	g.send(message{}.answer("", "status", state("idle")))
	if n := len(sent); n < 3 || n > 50 {
		t.Fatalf("got %d messages, want few", n)
	}
	var all string
	for len(sent) > 1 {
		var s struct{ Name, Text string }
		if (<-sent).read(&s); s.Name == "stderr" && len(sent) != 1 {
			t.Error("the error is not the last text")
		}
		all += s.Text
	}
	if m := <-sent; m.head.Type != "status" || len(all) != 1001*len("line\n") {
		t.Errorf("got %d bytes, then %s, want all text and then the status", len(all), m.head.Type)
	}
	say("stdout", "late")
	select {
	case <-sent:
	case <-time.After(10 * gatherTime):
		t.Error("a text is not sent")
	}
	say("stdout", "name?")
	if g.release(); len(sent) != 1 {
		t.Error("a text is not sent before a question")
	}
}
