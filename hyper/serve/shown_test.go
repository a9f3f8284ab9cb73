package serve

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// waiting is a Waiting with a short wait.
func waiting(y float32, combine string) api.RewardRule {
	return api.RewardRule{Wait: api.Duration(20 * time.Millisecond), Default: &y, Combine: combine}
}

// settles waits until the agent has learned a reward for a decision, and compares it with want.
func (c *client) settles(id any, want float32) {
	c.t.Helper()
	got, ok := float32(0), false
	for begun := time.Now(); (!ok || got != want) && time.Since(begun) < 20*time.Second; time.Sleep(time.Millisecond) {
		got, ok = c.server.now.Settled(fmt.Sprint(id))
	}
	if !ok || got != want {
		c.t.Errorf("decision %v is settled %v with %v, want %v", id, ok, got, want)
	}
}

// The test sends sequences of events of one decision through HTTP: rewards, "shown", and "over", when the wait is over.
func TestServerSettles(t *testing.T) {
	for _, x := range []struct {
		combine  string
		deferred bool
		what     []any
		want     float32
	}{
		{"", false, []any{"over"}, -1},
		{"", false, []any{"over", 2.0, 3.0}, 2},
		{"first", false, []any{2.0, 3.0, "over"}, 2},
		{"sum", false, []any{2.0, 3.0, "over", 4.0}, 9},
		{"max", false, []any{2.0, 3.0, 1.0, "over", 4.0, 2.0}, 4},
		{"last", false, []any{2.0, 3.0, 1.0, "over", 4.0, 2.0}, 2},
		{"", true, []any{"shown", "over"}, -1},
		{"", true, []any{"shown", "over", 2.0}, 2},
		{"sum", true, []any{2.0, 3.0, "over"}, 5},
	} {
		spec := pages
		spec.Reward = waiting(-1, x.combine)
		c := serving(t, Options{Spec: spec})
		id := c.decide(fmt.Sprintf(`{"context": {"age": 30}, "deferred": %v}`, x.deferred))["id"]
		never := c.decide(`{"context": {"age": 30}, "deferred": true}`)["id"]
		for _, what := range x.what {
			switch what := what.(type) {
			case float64:
				c.reward(id, what)
			case string:
				if what == "over" {
					time.Sleep(25 * time.Millisecond)
				} else if status, out := c.send("POST", "/v1/shown", fmt.Sprintf(`{"id": %q}`, id)); status != 200 || out["shown"] != 1.0 {
					t.Errorf("shown: status %d, want 200: %v", status, out)
				}
			}
		}
		c.settles(id, x.want)
		if _, ok := c.server.now.Settled(fmt.Sprint(never)); ok || c.server.now.Size() != 1 {
			t.Errorf("%v: got %d data, but one decision was never shown", x.what, c.server.now.Size())
		}
		must.M(c.server.Close())
	}
}

// Metrics count settled, late, deferred and shown decisions; an error says what is wrong with a request.
func TestServerShown(t *testing.T) {
	spec := pages
	spec.Reward = waiting(0, "")
	c := serving(t, Options{Spec: spec})
	made := func(deferred bool) any {
		return c.decide(fmt.Sprintf(`{"context": {}, "deferred": %v}`, deferred))["id"]
	}
	one, two, three := made(false), made(true), made(true)
	status, out := c.send("POST", "/v1/shown", fmt.Sprintf(`{"ids": [%q, "nonsense", %q]}`, two, one))
	if want := map[string]any{"shown": 2.0, "errors": []any{map[string]any{"id": "nonsense",
		"error": `decision "nonsense": no such decision; send the id that /v1/decide answered`}}}; status != 200 ||
		!reflect.DeepEqual(out, want) {
		t.Errorf("status %d, want 200 and an error for the unknown id: %v", status, out)
	}
	c.settles(one, 0)
	c.settles(two, 0)
	c.reward(two, 1)
	c.settles(two, 1)
	for _, line := range []string{`hyper_settled_total{by="default"} 2`, `hyper_settled_total{by="rewards"} 0`,
		"hyper_late_rewards_total 1", "hyper_deferred_total 2", "hyper_shown_total 1", "hyper_data 2"} {
		if !strings.Contains(c.text("/metrics"), line+"\n") {
			t.Errorf("metrics do not have the line %q", line)
		}
	}
	for text, want := range map[string]struct {
		status int
		error  string
	}{
		`{}`:                        {400, "there is no decision: give id, or an array of ids, as /v1/decide answered them"},
		`{"id": "a", "ids": ["b"]}`: {400, "give one decision, by id, or an array of ids, and not both"},
		`{"id": "7-00000000"}`:      {404, "decision 7-00000000: no such decision; send the id that /v1/decide answered"},
		`{"ids": [7]}`:              {400, "ids[0] must be a string, got a number; openapi.json describes the request"},
		`{"id": "a", "reward": 1}`: {400,
			`unknown field "reward"; the keys there are id, ids; openapi.json describes the request`},
	} {
		if status, out := c.send("POST", "/v1/shown", text); status != want.status || out["error"] != want.error {
			t.Errorf("%s: %d %v, want %v", text, status, out, want)
		}
	}
	for range 100 {
		c.decide(`{"context": {}}`)
	}
	if status, out := c.send("POST", "/v1/shown", fmt.Sprintf(`{"id": %q}`, three)); status != http.StatusGone {
		t.Errorf("shown of a forgotten decision: got status %d, want 410: %v", status, out)
	}
}

// SIGHUP may change wait and default: the decisions that wait are then settled by the new ones. A different agent,
// which learns from the log, has the learned defaults and the decisions that still wait.
func TestServerReloadsRewards(t *testing.T) {
	c := serving(t, Options{Spec: pages})
	id := c.decide(`{"context": {"age": 30}}`)["id"]
	next := pages
	next.Reward = waiting(0.25, "")
	must.M(c.server.Reload(t.Context(), next))
	c.settles(id, 0.25)
	next.Reward = api.RewardRule{Wait: api.Duration(time.Hour), Default: next.Reward.Default}
	must.M(c.server.Reload(t.Context(), next))
	open := c.decide(`{"context": {"age": 30}}`)["id"]
	next.Seed = 7
	next.Reward = waiting(0.5, "")
	must.M(c.server.Reload(t.Context(), next))
	c.settles(open, 0.5)
	c.reward(id, 1)
	c.settles(id, 1)
	if n := c.server.now.Size(); n != 2 {
		t.Errorf("got %d data, want 2", n)
	}
	for want, w := range map[string]api.RewardRule{
		`reward.combine must be first, sum, max or last, got "mean"`: {Wait: 1, Combine: "mean"},
		"reward.wait must be given with default":                     {Combine: "sum"},
	} {
		next.Reward = w
		if err := c.server.Reload(t.Context(), next); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The agent's predictions are compared with the settlements of its decisions, including decisions without a reward.
func TestServerCalibrationOfSilence(t *testing.T) {
	spec := pages
	spec.Reward = waiting(0, "sum")
	c := serving(t, Options{Spec: spec})
	ask := func() any { return c.decide(`{"context": {"age": 30}}`)["id"] }
	for i := range inGroup {
		if id := ask(); i < 3 {
			c.reward(id, 1)
			c.reward(id, 1)
		}
	}
	c.decide(`{"context": {}, "deferred": true}`)
	c.server.calib.mu.Lock()
	g := c.server.calib.group
	if len(g.ids) != inGroup {
		t.Errorf("got a group of %d decisions, want a full one", len(g.ids))
	}
	for _, id := range g.ids {
		c.settles(id, map[bool]float32{true: 2}[slices.Index(g.ids, id) < 3])
	}
	g.until = time.Now()
	c.server.calib.mu.Unlock()
	ask()
	c.server.calib.working.Wait()
	if _, d := c.send("GET", "/v1/diagnostics", ""); d["calibration"].(map[string]any)["rewards"] != 10.0 {
		t.Errorf("diagnostics: got %v, want 10 rewards", d)
	}
}
