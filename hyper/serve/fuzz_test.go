package serve

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// Whatever is sent, the server answers in JSON with a status in openapi.json, and does not fail. Only requests that are
// answered with 200 change the agent.
func FuzzRequests(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"context": {"age": 3, "visits": -1e18}}`, `{"arms": ["old"]}`, `{"arms": []}`, `{"arms": ["old", "old"]}`,
		`{"context": {"age": "x"}}`, `{"context": null, "actions": [{"features": {}}]}`, `[[[[`, `{"id": "0-0", "reward": 1}`,
		`{"rewards": [{"id": "ffffffffffffffff-00000000", "reward": 1e38}]}`, "\x00", `{"context": {"age": 1e400}}`, ``,
		`{"ids": ["0-0", ""], "deferred": true}`, `{"context": {}, "deferred": true}`, `{"id": "0-00000000"}`,
		`null`, `{"arms": [3], "context": {"age": {}}}`, `{"weight": -1, "reward": 1, "id": "0-00000000"}`,
	} {
		f.Add("/v1/decide", text)
		f.Add("/v1/reward", text)
		f.Add("/v1/shown", text)
	}
	o := Options{Spec: pages, Dir: f.TempDir(), MostBytes: 4096, MostActions: 8}
	s := must.M1(New(f.Context(), o))
	handler := s.Handler()
	f.Fuzz(func(t *testing.T, path, text string) {
		if !slices.Contains([]string{"/v1/decide", "/v1/reward", "/v1/shown"}, path) {
			return
		}
		size := s.now.Size()
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader(text))
		r.Header.Set("Content-Type", "application/json")
		handler.ServeHTTP(w, r)
		if !slices.Contains([]int{200, 400, 404, 410, 413, 422}, w.Code) || !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%s %q: got status %d with %s, want JSON and a documented status", path, text, w.Code, w.Body)
		}
		var out api.ErrorReply
		_ = json.Unmarshal(w.Body.Bytes(), &out) // of an answer with 200, nothing
		if own := goWords.MatchString(text) || strings.Contains(text, `\`); !own && goWords.MatchString(out.Error) {
			t.Errorf("%s %q: the answer has words of Go: %s", path, text, out.Error)
		}
		if w.Code != http.StatusOK && s.now.Size() != size {
			t.Errorf("%s %q: status %d, but the agent has learned", path, text, w.Code)
		}
	})
}
