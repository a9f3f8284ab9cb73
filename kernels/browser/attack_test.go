package browser

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/serve"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
	"github.com/hypermodels/hypermodels/kernels/internal/testprogram"
)

// Pages of other sites, in a browser on this machine, cannot make `hyper serve` do anything: neither by cross-site
// requests nor by a name that resolves to the server (DNS rebinding). The decision that waited before still accepts its
// reward; two further decisions would have made it expire.
func TestServeAttacked(t *testing.T) {
	browser := find(t)
	t.Parallel()
	program := testprogram.Build(t)
	spec := must.M1(agentfile.Read("../../hyper/serve/testdata/pages.json"))
	spec.Pending = 2
	s := must.M1(serve.New(t.Context(), serve.Options{Spec: spec, Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}))
	front := http.NewServeMux()
	server, answers := counting(t, front)
	trap := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><body><a href="%s">the agent</a>`, server)
	})
	front.Handle("/trap", trap) // the attacker's name led here before it led to the server
	front.Handle("/", s.Handler())
	evil := httptest.NewServer(trap)
	defer evil.Close()
	waiting := ask[api.Decision](t, server+"/v1/decide", "", api.DecisionRequest{Context: map[string]any{"age": 20}})

	cmd := exec.CommandContext(t.Context(), program, "python", "--browser", "--", "attack.py", browser, server,
		must.M1(url.Parse(evil.URL)).Port())
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	got := answers()
	for _, want := range []string{"POST /v1/decide 403", "OPTIONS /v1/decide 403", "POST /v1/reward 403",
		"POST /v1/snapshot 403", "GET /v1/snapshot 403", "GET /metrics 403", "GET / 403", "GET / 200",
		"POST /v1/decide 421", "POST /v1/reward 421", "POST /v1/snapshot 421", "GET /v1/snapshot 421",
		"GET /v1/diagnostics 421", "GET /metrics 421", "GET / 421", "GET /v1/diagnostics 200"} {
		if got[want] == 0 {
			t.Errorf("the server has no count for %s, got %v", want, got)
		}
	}
	for request := range got {
		if strings.HasPrefix(request, "POST ") && strings.HasSuffix(request, " 200") && got[request] > 1 {
			t.Errorf("pages of other sites caused %d answers of %s, want none", got[request]-1, request)
		}
	}
	y := float32(1)
	if taken := ask[api.RewardReply](t, server+"/v1/reward", "", api.RewardRequest{ID: waiting.ID, Reward: &y}); taken.Taken != 1 {
		t.Errorf("reward for the first decision: got %+v, want it taken", taken)
	}
	w := must.M1(http.Get(server + "/metrics"))
	defer w.Body.Close()
	metrics := string(must.M1(io.ReadAll(w.Body)))
	for _, line := range []string{"hyper_decisions_total 1", "hyper_data 1", `hyper_rewards_total{result="taken"} 1`} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("the metrics do not have the line %q", line)
		}
	}
	if strings.Contains(metrics, `result="unknown"`) {
		t.Error("a page of another site has sent a reward")
	}
}

// counting serves a handler. It returns the address, and a function that returns the number of answers by method, path
// and status.
func counting(t *testing.T, h http.Handler) (address string, answers func() map[string]int) {
	var mu sync.Mutex
	got := map[string]int{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := &noted{w, http.StatusOK}
		h.ServeHTTP(answer, r)
		mu.Lock()
		defer mu.Unlock()
		got[fmt.Sprintf("%s %s %d", r.Method, r.URL.Path, answer.status)]++
	}))
	t.Cleanup(s.Close)
	return s.URL, func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(got)
	}
}

// noted stores the status of an answer.
type noted struct {
	http.ResponseWriter
	status int
}

func (n *noted) WriteHeader(status int) {
	n.status = status
	n.ResponseWriter.WriteHeader(status)
}
