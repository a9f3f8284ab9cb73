package browser

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/serve"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
	"github.com/hypermodels/hypermodels/kernels/internal/testprogram"
)

// The page of `hyper serve` asks for the token, shows the agent's activity, and sends requests only to its own server.
func TestServePage(t *testing.T) {
	browser := find(t)
	t.Parallel()
	program := testprogram.Build(t)
	const token = "secret"
	spec := must.M1(agentfile.Read("../../hyper/serve/testdata/pages.json"))
	s := must.M1(serve.New(t.Context(), serve.Options{Spec: spec, Dir: t.TempDir(), Token: token, Log: slog.New(slog.DiscardHandler)}))
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	for i := range 40 {
		d := ask[api.Decision](t, server.URL+"/v1/decide", token, api.DecisionRequest{Context: map[string]any{"age": 20 + i}})
		y := float32(i % 2)
		ask[api.RewardReply](t, server.URL+"/v1/reward", token, api.RewardRequest{ID: d.ID, Reward: &y})
	}
	cmd := exec.CommandContext(t.Context(), program, "python", "--browser", "--", "page.py", browser, server.URL, token)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

// ask posts a value as JSON and returns the answer.
func ask[Out any](t *testing.T, url, token string, in any) (out Out) {
	t.Helper()
	r := must.M1(http.NewRequest(http.MethodPost, url, bytes.NewReader(must.M1(json.Marshal(in)))))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	w := must.M1(http.DefaultClient.Do(r))
	defer w.Body.Close()
	must.M(json.NewDecoder(w.Body).Decode(&out))
	if w.StatusCode != http.StatusOK {
		t.Fatalf("%s: got status %s, want 200", url, w.Status)
	}
	return out
}
