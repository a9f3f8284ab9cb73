package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/durable"
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// broken is a log that accepts no more records.
type broken struct{ keeper }

var errDisk = errors.New("no space left on device")

func (broken) Append(...journal.Record) (uint64, func() error, error) { return 0, nil, errDisk }
func (broken) Sync() error                                            { return errDisk }
func (broken) Err() error                                             { return errDisk }

// The rewards of ten decisions are compared with the agent's predictions from before them. Here the agent learned that
// all rewards are 1, and then gets very different ones.
func TestServerCalibration(t *testing.T) {
	c := serving(t, Options{Spec: pages})
	if _, d := c.send("GET", "/v1/diagnostics", ""); d["calibration"] != nil {
		t.Errorf("diagnostics without predictions: got %v, want no calibration", d)
	}
	ten := func(y float64) {
		var ids []any
		for i := range 10 {
			ids = append(ids, c.decide(fmt.Sprintf(`{"context": {"age": %d}}`, 20+i))["id"])
		}
		for i, id := range ids {
			c.reward(id, y+float64(i%3)/10)
		}
	}
	for i := range 10 {
		ten(1)
		c.server.calib.working.Wait()
		if i == 0 {
			c.server.calib.mu.Lock()
			c.server.calib.rest = time.Now().Add(time.Hour)
			c.server.calib.mu.Unlock()
		}
	}
	_, before := c.send("GET", "/v1/diagnostics", "")
	c.server.calib.mu.Lock()
	c.server.calib.rest, c.server.calib.next = time.Time{}, 0
	c.server.calib.mu.Unlock()
	ten(9)
	c.server.calib.working.Wait()
	_, after := c.send("GET", "/v1/diagnostics", "")
	b, a := before["calibration"].(map[string]any), after["calibration"].(map[string]any)
	if b["rewards"] != 10.0 || a["rewards"] != 10.0 || a["tenths"].([]any)[9] != 10.0 || a["surprise"].(float64) < 10 {
		t.Errorf("got calibration %v, and %v with rewards far from the earlier ones", b, a)
	}
}

// If the log accepts no more records, requests and health are answered with 503, so that the server is restarted.
func TestServerLogFails(t *testing.T) {
	c := serving(t, Options{Spec: pages})
	id := c.decide(`{"context": {"age": 30}}`)["id"].(string)
	c.server.log = broken{c.server.log}
	c.server.now.Close()
	c.server.now = must.M1(c.server.open(pages))
	for _, r := range [][2]string{{"/v1/decide", `{"context": {"age": 30}}`}, {"/v1/snapshot", ""},
		{"/v1/reward", `{"id": "` + id + `", "reward": 1}`},
		{"/v1/reward", `{"rewards": [{"id": "` + id + `", "reward": 1}]}`}} {
		status, out := c.send("POST", r[0], r[1])
		if status != http.StatusServiceUnavailable || !strings.Contains(out["error"].(string), "log failed: no space left") {
			t.Errorf("%s %s: status %d, want 503 and the failure of the log: %v", r[0], r[1], status, out)
		}
	}
	if status, out := c.send("GET", "/v1/health", ""); status != http.StatusServiceUnavailable {
		t.Errorf("health: status %d, want 503: %v", status, out)
	}
}

// A decision that is too large for the log is refused, and later ones are answered.
func TestServerLargeDecision(t *testing.T) {
	c := serving(t, Options{Spec: api.Spec{Action: api.Features{Buckets: 8192}, Learner: "linear", Capacity: 10,
		Backend: backend.Go}})
	many := `{"actions": [{"features": {}}` + strings.Repeat(`, {"features": {}}`, 599) + `]}`
	status, out := c.send("POST", "/v1/decide", many)
	if status != http.StatusBadRequest || !strings.Contains(out["error"].(string), "600 actions of 8192 features") {
		t.Errorf("got status %d, want 400: %v", status, out)
	}
	c.decide(`{"actions": [{"features": {}}, {"features": {"a": 1}}]}`)
}

// A new agent learns nearly all of the log before requests must wait for it.
func TestServerNearlyAll(t *testing.T) {
	c := serving(t, Options{Spec: pages, Sync: durable.None})
	for range 600 {
		d := must.M1(c.server.decide(t.Context(), &api.DecisionRequest{Context: map[string]any{"age": 30.0}}))
		must.M1(c.server.reward(t.Context(), &api.RewardRequest{ID: d.ID, Reward: new(float32(1))}))
	}
	next := must.M1(agent.New(must.M1(agentfile.ConfigWithArms(pages, pages.Arms))))
	arms := next.Arms()
	arms.Names = pages.Arms
	must.M(next.ChangeArms(arms))
	seen := must.M1(c.server.nearlyAll(t.Context(), next, pages, 0))
	if end := c.server.log.Next(); next.Size() != 600 || seen != end || end < 1200 {
		t.Errorf("the new agent has %d of 600 rewards, and continues with record %d of %d", next.Size(), seen, end)
	}
	if again := must.M1(c.server.nearlyAll(t.Context(), next, pages, seen-1000)); again != seen-1000 {
		t.Errorf("few records were left, but it continues with record %d of %d", again, seen)
	}
}

// The caller can end a start during which the agent learns anew from its log. The next start then does it.
func TestServerStartEnds(t *testing.T) {
	c := serving(t, Options{Spec: pages})
	c.reward(c.decide(`{"context": {"age": 30}}`)["id"], 1)
	must.M(c.server.Close())
	o := c.server.options
	o.Spec.Context.Names = []string{"visits", "country"}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("got error %v, want the error of the context", err)
	}
	s := must.M1(New(t.Context(), o))
	if n := s.now.Size(); n != 1 || !slices.Equal(s.now.Spec.Context.Names, o.Spec.Context.Names) {
		t.Errorf("the agent has %d rewards and the features %v", n, s.now.Spec.Context.Names)
	}
	must.M(s.Close())
}
