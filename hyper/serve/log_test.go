package serve

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

// broken is a log that takes no more.
type broken struct{ keeper }

var errDisk = errors.New("no space left on device")

func (broken) Append(...journal.Record) (uint64, func() error, error) { return 0, nil, errDisk }
func (broken) Sync() error                                            { return errDisk }
func (broken) Err() error                                             { return errDisk }

// A log that takes no more makes requests fail with 503, and health too, so that the server is started again.
func TestServerLogFails(t *testing.T) {
	c := serving(t, Options{Spec: pages})
	id := c.decide(`{"context": {"age": 30}}`)["id"].(string)
	c.server.log = broken{c.server.log}
	c.server.now.Close()
	c.server.now = must.M1(c.server.open(pages, must.M1(pages.Config())))
	for path, text := range map[string]string{"/v1/decide": `{"context": {"age": 30}}`, "/v1/snapshot": "",
		"/v1/reward": `{"id": "` + id + `", "reward": 1}`} {
		status, out := c.send("POST", path, text)
		if status != http.StatusServiceUnavailable || !strings.Contains(out["error"].(string), "log failed: no space left") {
			t.Errorf("%s: %d %v", path, status, out)
		}
	}
	if status, out := c.send("GET", "/v1/health", ""); status != http.StatusServiceUnavailable {
		t.Errorf("health: %d %v", status, out)
	}
}
