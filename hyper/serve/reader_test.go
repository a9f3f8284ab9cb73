package serve

import (
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"
)

// reading runs a reader of a server.
func reading(t *testing.T, from, token, dir string) (*client, error) {
	t.Helper()
	s, err := New(t.Context(), Options{From: from, Token: token, Dir: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	h := httptest.NewServer(s.Handler())
	t.Cleanup(h.Close)
	return &client{t: t, server: s, url: h.URL, router: router(), token: token}, nil
}

// A server that reads decides with the belief of the other server, learns nothing, follows it, and continues without
// it, even after a restart.
func TestServerReads(t *testing.T) {
	c := serving(t, Options{Spec: pages, Token: "secret"})
	other := serving(t, Options{Spec: items, Token: "secret"})
	now := c.url // of what the reader asks
	front := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(must.M1(url.Parse(now))) }, ErrorLog: log.New(io.Discard, "", 0),
	})
	t.Cleanup(front.Close)
	dir := filepath.Join(t.TempDir(), "reader")
	if _, err := reading(t, front.URL, "wrong", dir); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("wrong token: got error %v, want one with 401", err)
	}
	r := must.M1(reading(t, front.URL, "secret", dir))
	learn := func(n int) {
		for range n {
			d := c.decide(`{"context": {"age": 30, "visits": 1}}`)
			y := 0.0
			if d["name"] == "new" {
				y = 1
			}
			c.reward(d["id"], y)
		}
		c.server.savedAt = c.server.savedAt.Add(-1e9 * 2) // a file that is younger than a second would do
	}
	data := func() float64 {
		_, h := r.send("GET", "/v1/health", "")
		return h["data"].(float64)
	}
	learn(40)
	if data() != 0 {
		t.Error("the reader has learned before it had a new snapshot")
	}
	must.M(r.server.Refresh(t.Context()))
	if data() != 40 {
		t.Errorf("the reader has %v data, want 40", data())
	}
	taken := 0
	for range 20 {
		d := r.decide(`{"context": {"age": 30, "visits": 1}}`)
		if d["id"] != "" {
			t.Fatal(d)
		}
		if d["name"] == "new" {
			taken++
		}
	}
	if taken < 12 {
		t.Errorf("the right page was chosen %d times of 20, want at least 12", taken)
	}
	if _, d := r.send("GET", "/v1/diagnostics", ""); d["decisions"] != 20.0 {
		t.Error(d)
	}
	for path, text := range map[string]string{"/v1/reward": `{"id": "0-00000000", "reward": 1}`,
		"/v1/shown": `{"id": "0-00000000"}`, "/v1/snapshot": ""} {
		if status, out := r.send("POST", path, text); status != http.StatusForbidden ||
			!strings.Contains(out["error"].(string), "only reads") {
			t.Errorf("%s: status %d, want 403: %v", path, status, out)
		}
	}
	file := must.M1(os.Stat(r.server.file()))
	must.M(r.server.Refresh(t.Context())) // nothing new
	if again := must.M1(os.Stat(r.server.file())); !again.ModTime().Equal(file.ModTime()) {
		t.Error("the reader fetched the same snapshot again")
	}

	now = "http://127.0.0.1:1"
	if err := r.server.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), "502") {
		t.Error(err)
	}
	if _, h := r.send("GET", "/v1/health", ""); h["status"] != "not following" || h["data"] != 40.0 {
		t.Error(h)
	}
	if text := r.text("/metrics"); !strings.Contains(text, "hyper_follower_failing 1") ||
		strings.Contains(text, "hyper_log_records") {
		t.Error(text)
	}
	r.decide(`{"context": {"age": 30}}`)
	must.M(r.server.Close())
	r = must.M1(reading(t, front.URL, "secret", dir))
	if data() != 40 {
		t.Errorf("restart without the other server: got %v data", data())
	}
	if _, err := reading(t, front.URL, "secret", filepath.Join(t.TempDir(), "empty")); err == nil {
		t.Error("reader without any snapshot: got no error")
	}

	now = other.url // which has another agent
	must.M(r.server.Refresh(t.Context()))
	if d := r.decide(`{"context": {}, "actions": [{"features": {"price": 3}}]}`); d["action"] != 0.0 {
		t.Error(d)
	}
	reader2 := must.M1(reading(t, r.url, "secret", filepath.Join(t.TempDir(), "second"))) // a reader of the reader
	reader2.decide(`{"context": {}, "actions": [{"features": {"price": 3}}]}`)
}

// A reader refuses a wrong address, a folder of a server that learns, and a source that is not a hyper serve.
func TestServerReadsNot(t *testing.T) {
	c := serving(t, Options{Spec: pages})
	for from, want := range map[string]string{
		"agent:8080":             "From must be the address",
		"ftp://agent":            "From must be the address",
		"http://127.0.0.1:1":     "refused",
		c.url + "/elsewhere":     "404",
		c.url + "?snapshot=last": "From must be the address",
	} {
		if _, err := reading(t, from, "", filepath.Join(t.TempDir(), "agent")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", from, err, want)
		}
	}
	if _, err := reading(t, c.url, "", c.server.options.Dir); err == nil ||
		!strings.Contains(err.Error(), "folder of a server that learns") {
		t.Error(err)
	}
	html := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = w.Write([]byte("<html>"))
	}))
	t.Cleanup(html.Close)
	if _, err := reading(t, html.URL, "", filepath.Join(t.TempDir(), "agent")); err == nil {
		t.Error("HTML in place of a snapshot: got no error")
	}
}

// A source that accepts connections and sends nothing does not stop the start.
func TestSilentSource(t *testing.T) {
	for sends, want := range map[int]string{0: "has sent nothing for 50ms", 3: "has sent nothing for 50ms"} {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"1"`)
			if sends > 0 {
				must.M1(w.Write(make([]byte, sends)))
				must.M(http.NewResponseController(w).Flush())
			}
			<-r.Context().Done()
		}))
		t.Cleanup(h.Close)
		_, err := New(t.Context(), Options{From: h.URL, Dir: t.TempDir(), patience: 50 * time.Millisecond})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes: got error %v, want %q", sends, err, want)
		}
	}
}
