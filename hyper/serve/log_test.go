package serve

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
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
	for path, text := range map[string]string{"/v1/decide": `{"context": {"age": 30}}`, "/v1/snapshot": "",
		"/v1/reward": `{"id": "` + id + `", "reward": 1}`} {
		status, out := c.send("POST", path, text)
		if status != http.StatusServiceUnavailable || !strings.Contains(out["error"].(string), "log failed: no space left") {
			t.Errorf("%s: status %d, want 503 and the failure of the log: %v", path, status, out)
		}
	}
	if status, out := c.send("GET", "/v1/health", ""); status != http.StatusServiceUnavailable {
		t.Errorf("health: status %d, want 503: %v", status, out)
	}
}
