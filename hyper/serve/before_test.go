package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
)

// An agent that was saved before bayesian-linear had a line continues unchanged after an upgrade. The server says so
// once, and tells its readers. The file of such an agent equals the file of an agent with `line: no`. A Spec that asks
// for a line describes another agent: a start refuses it, and a reload makes it learn from the log.
func TestAgentsFromBeforeTheLine(t *testing.T) {
	before, asks := pages, pages
	before.Set, asks.Set = json.RawMessage(`{"waves": 20, "line": "no"}`), json.RawMessage(`{"waves": 20, "line": "yes"}`)
	c := serving(t, Options{Spec: before})
	d := c.decide(`{"context": {"age": 41}}`)
	c.send("POST", "/v1/reward", `{"id": "`+d["id"].(string)+`", "reward": 1}`)
	dir := c.server.options.Dir
	must.M(c.server.Close())

	if _, err := New(Options{Spec: asks, Dir: dir, Log: slog.New(slog.DiscardHandler)}); !errors.Is(err, agent.ErrOtherConfig) ||
		!strings.Contains(err.Error(), "Belief.Line: not set in the file, true here") {
		t.Errorf("Load by an agent with a line: got error %v, want one about the configuration", err)
	}
	var said bytes.Buffer
	s := must.M1(New(Options{Spec: pages, Dir: dir, Log: slog.New(slog.NewTextHandler(&said, nil))}))
	defer func() { must.M(s.Close()) }()
	if n := s.now.Size(); n != 1 || strings.Count(said.String(), "the server continues without it") != 1 {
		t.Errorf("got %d data and the log %q, want 1 and a note", n, said.String())
	}
	if got := must.M1(agentfile.OfFolder(dir)); !agentfile.Equal(got, s.now.Spec) || string(got.Set) == string(pages.Set) {
		t.Errorf("readers get the settings %s", got.Set)
	}
	pending := pages
	pending.Pending = 50
	must.M(s.Reload(t.Context(), pending))
	if s.now.Size() != 1 || !strings.Contains(string(s.now.Spec.Set), `"line":"no"`) {
		t.Errorf("with another pending: got %d data and settings %s", s.now.Size(), s.now.Spec.Set)
	}
	must.M(s.Reload(t.Context(), asks))
	if s.now.Size() != 1 || !agentfile.Equal(s.now.Spec, asks) {
		t.Errorf("with a line: got %d data and settings %s", s.now.Size(), s.now.Spec.Set)
	}
}

// An earlier version took a replay of window that had no effect. A server without it continues with the saved agent.
func TestWindowsFromBefore(t *testing.T) {
	c := serving(t, Options{Spec: pages})
	must.M(c.server.Close())
	o, window := c.server.options, pages
	window.Replay, window.Capacity = "window", 10
	must.M(agentfile.Save(o.Dir, window))
	must.M(must.M1(New(o)).Close())
	o.Spec = window
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), "replay window is not for this learner") {
		t.Errorf("%v, want an error about the window", err)
	}
}
