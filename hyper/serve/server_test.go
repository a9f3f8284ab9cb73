package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent/durable"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
	"github.com/hypermodels/hypermodels/hyper/serve/offline"
)

// pages is an agent of arms in a context, and items is an agent of actions with features.
var (
	pages = api.Spec{Arms: []string{"old", "new"}, Context: api.Features{Names: []string{"age", "visits"}}, Floor: 0.1,
		Set: json.RawMessage(`{"waves": 20}`), Pending: 100, Backend: backend.Go}
	items = api.Spec{Context: api.Features{Names: []string{"age"}}, Action: api.Features{Names: []string{"price"}, Buckets: 4},
		Set: json.RawMessage(`{"waves": 20}`), Backend: backend.Go}
)

// client sends requests to a server, and checks requests and answers against openapi.json.
type client struct {
	t      *testing.T
	server *Server
	url    string
	router routers.Router
	token  string
}

func serving(t *testing.T, o Options) *client {
	t.Helper()
	o.Dir = filepath.Join(t.TempDir(), "agent")
	o.Log = slog.New(slog.DiscardHandler)
	s := must.M1(New(t.Context(), o))
	h := httptest.NewServer(s.Handler())
	t.Cleanup(h.Close)
	return &client{t, s, h.URL, router(), o.Token}
}

// router finds the operation of a request in openapi.json.
var router = sync.OnceValue(func() routers.Router {
	api := must.M1(openapi3.NewLoader().LoadFromData(document))
	must.M(api.Validate(context.Background()))
	return must.M1(gorillamux.NewRouter(api))
})

// send returns the status and the answer. It checks the answer against openapi.json, and also the request if it is
// answered with 200.
func (c *client) send(method, path, text string) (int, map[string]any) {
	c.t.Helper()
	r := must.M1(http.NewRequest(method, c.url+path, strings.NewReader(text)))
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	r.Header.Set("Content-Type", "application/json")
	w := must.M1(http.DefaultClient.Do(r))
	defer w.Body.Close()
	got := must.M1(io.ReadAll(w.Body))
	c.check(method, path, text, w, got)
	var out map[string]any
	if err := json.Unmarshal(got, &out); err != nil {
		c.t.Fatalf("%s %s: answer %q is not JSON", method, path, got)
	}
	return w.StatusCode, out
}

func (c *client) check(method, path, text string, w *http.Response, got []byte) {
	c.t.Helper()
	r := must.M1(http.NewRequest(method, path, strings.NewReader(text)))
	r.Header.Set("Content-Type", "application/json")
	route, params, err := c.router.FindRoute(r)
	if err != nil {
		return // no part of the API
	}
	in := &openapi3filter.RequestValidationInput{Request: r, Route: route, PathParams: params,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}}
	if w.StatusCode == http.StatusOK {
		if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil {
			c.t.Errorf("%s %s %s: the answer does not fit the API: %v", method, path, text, err)
		}
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: w.StatusCode, Header: w.Header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true}}
	out.SetBodyBytes(got)
	if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil {
		c.t.Errorf("%s %s: the answer %d %s does not fit openapi.json: %v", method, path, w.StatusCode, got, err)
	}
}

// decide asks for a decision, which must succeed.
func (c *client) decide(text string) map[string]any {
	c.t.Helper()
	status, d := c.send("POST", "/v1/decide", text)
	if status != http.StatusOK {
		c.t.Fatalf("decision %s: status %d, want 200: %v", text, status, d)
	}
	return d
}

func (c *client) reward(id any, y float64) {
	c.t.Helper()
	status, out := c.send("POST", "/v1/reward", fmt.Sprintf(`{"id": %q, "reward": %v}`, id, y))
	if status != http.StatusOK || out["taken"] != 1.0 {
		c.t.Fatalf("reward of %v: status %d, want 200: %v", id, status, out)
	}
}

// The agent learns through HTTP which arm is best in which context. After 60 visitors it takes the best page for the
// next 20, except for random actions by its floor of 0.1.
func TestServerLearns(t *testing.T) {
	c := serving(t, Options{Spec: pages})
	right := 0
	for i := range 80 {
		age := 20 + 37*i%50
		d := c.decide(fmt.Sprintf(`{"context": {"age": %d, "visits": 3}}`, age))
		want := "old"
		if age > 45 {
			want = "new"
		}
		y := 0.0
		if d["name"] == want {
			y = 1
		}
		if i >= 60 {
			right += int(y)
		}
		p := d["probabilities"].([]any)
		if len(p) != 2 || p[int(d["action"].(float64))] != d["probability"] {
			t.Fatalf("got decision %v, want the probability of its action", d)
		}
		c.reward(d["id"], y)
		c.reward(d["id"], 1-y) // again, which counts no more
	}
	if right < 16 {
		t.Errorf("%d of the last 20 decisions were right, want at least 16", right)
	}
	if _, h := c.send("GET", "/v1/health", ""); h["status"] != "ok" || h["data"] != 80.0 {
		t.Error(h)
	}
	_, d := c.send("GET", "/v1/diagnostics", "")
	if d["decisions"] != 64.0 || d["functions"] != 64.0 || d["spread"].(float64) <= 0 || d["distinct"].(float64) < 2 ||
		d["drift"].(float64) <= 0 || d["regret"].(float64) < 0 {
		t.Error(d)
	}
	_, d = c.send("GET", "/v1/activity", "")
	arms := d["arms"].([]any)
	if n := len(arms); n != 2 || d["decisions"] != 80.0 || d["rewards"] != 80.0 || len(d["steps"].([]any)) != steps {
		t.Error(d)
	}
	for i, name := range []string{"old", "new"} {
		if one := arms[i].(map[string]any); one["name"] != name || one["decisions"] != one["rewards"] || one["upper"] == nil {
			t.Error(one)
		}
	}
	text := c.text("/metrics")
	for _, line := range []string{"hyper_decisions_total 80", `hyper_rewards_total{result="taken"} 160`, "hyper_data 80",
		"# HELP hyper_reward Sum and number of the rewards taken. A reward that is sent again counts again; a default does " +
			"not count.", "hyper_reward_count 160", `hyper_decision_probability_bucket{le="1"} 80`,
		`hyper_request_seconds_count{path="decide",status="200"} 80`, "hyper_learner_failing 0"} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("metrics do not have the line %q", line)
		}
	}
	if !strings.Contains(c.text("/"), "<!doctype html>") || !strings.Contains(c.text("/openapi.json"), "openapi") {
		t.Error("the page or the description of the API is missing")
	}
}

func (c *client) text(path string) string {
	r := must.M1(http.NewRequest(http.MethodGet, c.url+path, nil))
	r.Header.Set("Authorization", "Bearer "+c.token)
	w := must.M1(http.DefaultClient.Do(r))
	defer w.Body.Close()
	return string(must.M1(io.ReadAll(w.Body)))
}

// Actions with features, some of which are hashed, may differ from request to request; the answer repeats their names.
func TestServerOfActions(t *testing.T) {
	c := serving(t, Options{Spec: items})
	d := c.decide(`{"context": {"age": 30}, "actions": [{"id": "a", "features": {"price": 3, "colour": "red"}},
		{"id": "b", "features": {"price": 4, "new": true}}, {"features": {}}]}`)
	if want := []any{"a", "b", nil}[int(d["action"].(float64))]; d["name"] != want {
		t.Errorf("%v, want %v", d, want)
	}
	c.reward(d["id"], -2.5)
	bare := serving(t, Options{Spec: api.Spec{Arms: []string{"old", "new"}, Learner: "linear", Backend: backend.Go}})
	d = bare.decide(`{}`)
	if d["name"] == "" { // nothing is known, and so nothing missing
		t.Error(d)
	}
	analytic := serving(t, Options{Spec: api.Spec{Arms: []string{"old", "new"}, Learner: "linear",
		Set: json.RawMessage(`{"integrate": "analytic"}`), Backend: backend.Go}})
	d = analytic.decide(`{}`)
	for text, x := range map[string]struct {
		c    *client
		path string
		want string
	}{
		fmt.Sprintf(`{"id": %q, "reward": 1, "weight": 2}`, d["id"]): {analytic, "/v1/reward",
			"wrong reward: weight must be left out, because the agent's learner counts each reward once, got 2"},
		`{"context": {"age": 3}}`: {bare, "/v1/decide", `context: unknown feature "age": there are no features here`},
		`{"context": {}, "actions": [{"features": {}}, {"id": "b"}]}`: {c, "/v1/decide",
			"actions[1].features is missing; {} means that all features are 0"},
		`{"context": {}, "actions": [{"features": {"price": "high"}}]}`: {c, "/v1/decide",
			`actions[0].features: feature "price" must be a number, true or false, got the string "high"`},
		`{"context": {}}`: {c, "/v1/decide", "actions must be given, each by its features, and arms left out"},
	} {
		if status, out := x.c.send("POST", x.path, text); status < 400 || out["error"] != x.want {
			t.Errorf("%s: %d %v, want %q", text, status, out, x.want)
		}
	}
	if d := c.decide(`{"context": {"age": 31}, "actions": [{"features": {"price": 1}}]}`); d["probability"] != 1.0 {
		t.Error(d)
	}
}

// Arms without a context need only their names. Rewards may have any scale, and a decision may offer some of the arms.
func TestServerOfArmsAlone(t *testing.T) {
	spec := api.Spec{Arms: []string{"a", "b", "c"}, Backend: backend.Go}
	c := serving(t, Options{Spec: spec})
	for range 30 {
		d := c.decide(`{}`)
		c.reward(d["id"], 1000+map[any]float64{"b": 50}[d["name"]])
	}
	if d := c.decide(`{"arms": ["c", "b"]}`); d["name"] != "b" || d["action"] != 1.0 {
		t.Errorf("decision after 30 rewards: got %v, want b", d)
	}
	for want, wrong := range map[string]api.Spec{
		"bayesian-linear needs a context": {Arms: spec.Arms, Learner: agentfile.BayesianLinear},
		"other settings need learner":     {Arms: spec.Arms, Set: json.RawMessage(`{"waves": 20}`)},
	} {
		if _, err := agentfile.Config(wrong); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// goWords are words that a client in another language cannot know.
var goWords = regexp.MustCompile(`Go |json:|\bfloat(32|64)\b|interface|map\[|%!|<nil>|` +
	`\b(Act|Decide|Observe|Feedback|Config|Learner|Menu|Weight)\b`)

// A wrong request gets the right status and one message in the words of the API, and changes nothing.
func TestServerRefuses(t *testing.T) {
	c := serving(t, Options{Spec: pages, MostBytes: 300, MostActions: 3})
	known := fmt.Sprint(c.decide(`{"context": {"age": 30}}`)["id"])
	const more, null = "; openapi.json describes the request",
		" must not be null: give a value, or leave it out; openapi.json describes the request"
	many := strings.Repeat(`"old",`, 3) + `"old"`
	for _, x := range []struct {
		method, path, text string
		status             int
		want               string
	}{
		{"POST", "/v1/decide", `{"context": {"agee": 3}}`, 400,
			`context: unknown feature "agee" (did you mean "age"?); the features are age, visits`},
		{"POST", "/v1/decide", `{"context": {"agee": 3, "vist": 4}}`, 400,
			`context: unknown feature "agee" (did you mean "age"?); the features are age, visits` + "\n" +
				`context: unknown feature "vist" (did you mean "visits"?); the features are age, visits`},
		{"POST", "/v1/decide", `{"context": {"age": NaN}}`, 400,
			"byte 20, in context.age, is no JSON: invalid character 'N' at start of value" + more},
		{"POST", "/v1/decide", `{"context": {"age": Infinity}}`, 400,
			"byte 20, in context.age, is no JSON: invalid character 'I' at start of value" + more},
		{"POST", "/v1/decide", `{"context": {"age": 1e999}}`, 422,
			"context.age is too large a number, 1e999: value out of range; numbers must be between -1e18 and 1e18"},
		{"POST", "/v1/decide", `{"context": {"age": 1e30}}`, 422,
			`context: feature "age" is too large, or not finite: it must be between -1e18 and 1e18, got 1e+30`},
		{"POST", "/v1/decide", ``, 400, "the request has no body: send a JSON object" + more},
		{"POST", "/v1/decide", `{}`, 400,
			"context is missing: its features are age, visits; {} is a context in which all are 0"},
		{"POST", "/v1/decide", `null`, 400, "the JSON value" + null},
		{"POST", "/v1/decide", `[]`, 400, "the JSON value must be an object, got an array" + more},
		{"POST", "/v1/decide", `{"context": null}`, 400, "context" + null},
		{"POST", "/v1/decide", `{"context": {"age": null}}`, 400, "context.age" + null},
		{"POST", "/v1/decide", `{"context": [3]}`, 400, "context must be an object, got an array" + more},
		{"POST", "/v1/decide", `{"context": {"age": [1]}}`, 400,
			`context: feature "age" must be a number, true, false or a string, got an array`},
		{"POST", "/v1/decide", `{"context": {"age": {}}}`, 400,
			`context: feature "age" must be a number, true, false or a string, got an object`},
		{"POST", "/v1/decide", `{"context": {"age": "x"}}`, 400,
			`context: feature "age" must be a number, true or false, got the string "x"`},
		{"POST", "/v1/decide", `{"contexts": {}}`, 400,
			`unknown field "contexts"; the keys there are context, arms, actions, deferred, list` + more},
		{"POST", "/v1/decide", `{"actions": [{"features": {}}, {"feature": {}}]}`, 400,
			`unknown field "actions[1].feature"; the keys there are id, features` + more},
		{"POST", "/v1/decide", `{} {}`, 400, "there is something after the JSON value" + more},
		{"POST", "/v1/decide", `{"context": {"age": 1`, 400, "the JSON ends too early: unexpected EOF" + more},
		{"POST", "/v1/decide", `{"context": {"age": 1, "age": 2}}`, 400, `key "context.age" is there twice` + more},
		{"POST", "/v1/decide", `{"arms": "old"}`, 400, "arms must be an array, got a string" + more},
		{"POST", "/v1/decide", `{"arms": ["old", 3]}`, 400, "arms[1] must be a string, got a number" + more},
		{"POST", "/v1/decide", `{"arms": ["odl"]}`, 400,
			`arms[0]: unknown arm "odl" (did you mean "old"?); the arms are old, new`},
		{"POST", "/v1/decide", `{"arms": ["old", "old"]}`, 400, `arms[1]: arm "old" is given twice`},
		{"POST", "/v1/decide", `{"arms": []}`, 400, "arms must have at least one arm, or be left out for all"},
		{"POST", "/v1/decide", `{"arms": [` + many + `]}`, 400,
			"a decision may have at most 3 actions, got 4; send fewer, or start hyper serve with --max-actions"},
		{"POST", "/v1/decide", `{"actions": [{"features": {}}]}`, 400, "actions must be left out: the agent chooses among " +
			"arms, which have no features; give arms, or leave arms out for all"},
		{"POST", "/v1/decide", `{"context": {"age": 1` + strings.Repeat(" ", 300) + `}}`, 413,
			"the body has more than 300 bytes: send less, or start hyper serve with --max-bytes"},
		{"POST", "/v1/reward", `{"id": "7-00000000", "reward": 1}`, 404,
			"decision 7-00000000: no such decision; send the id that /v1/decide answered"},
		{"POST", "/v1/reward", `{"id": "nonsense", "reward": 1}`, 404,
			`decision "nonsense": no such decision; send the id that /v1/decide answered`},
		{"POST", "/v1/reward", `{"id": "` + known + `"}`, 400, "reward is missing: send a number"},
		{"POST", "/v1/reward", `{"id": "` + known + `", "reward": "1"}`, 400, "reward must be a number, got a string" + more},
		{"POST", "/v1/reward", `{"id": "` + known + `", "reward": null}`, 400, "reward" + null},
		{"POST", "/v1/reward", `{"id": 7, "reward": 1}`, 400, "id must be a string, got a number" + more},
		{"POST", "/v1/reward", `{"reward": 1}`, 400, "id is missing: send the id that /v1/decide answered"},
		{"POST", "/v1/reward", `{"rewards": [{"id": "a", "reward": 1}, {"reward": 1}]}`, 400,
			"rewards[1].id is missing: send the id that /v1/decide answered"},
		{"POST", "/v1/reward", `{"rewards": [{"id": "a", "reward": true}]}`, 400,
			"rewards[0].reward must be a number, got true" + more},
		{"POST", "/v1/reward", `{"rewards": [{"id": "a"}]}`, 400, "rewards[0].reward is missing: send a number"},
		{"POST", "/v1/reward", `{"id": "` + known + `", "reward": 1e30}`, 422, "reward of decision " + known +
			": the reward is too large, or not finite: it must be between -1e18 and 1e18, got 1e+30"},
		{"POST", "/v1/reward", `{"id": "` + known + `", "reward": 1e300}`, 422,
			"reward is too large a number, 1e300: value out of range; numbers must be between -1e18 and 1e18"},
		{"POST", "/v1/reward", `{"id": "` + known + `", "reward": 1, "weight": -1}`, 422, "reward of decision " + known +
			": wrong reward: the weight must be positive and at most 1e9, got -1"},
		{"POST", "/v1/reward", `{}`, 400, "there is no reward: give id and reward, or an array of rewards"},
		{"POST", "/v1/reward", `{"id": "a", "reward": 1, "rewards": [{"id": "a", "reward": 1}]}`, 400,
			"give one reward, by id and reward, or an array of rewards, and not both"},
		{"POST", "/v1/snapshot", `{"file": "/etc/passwd"}`, 400, `unknown field "file"` + more},
		{"GET", "/v1/decide", "", 405, "/v1/decide takes POST, got GET"},
		{"PUT", "/v1/snapshot", "{}", 405, "/v1/snapshot takes GET, HEAD, POST, got PUT"},
		{"DELETE", "/v1/health", "", 405, "/v1/health takes GET, HEAD, got DELETE"},
		{"GET", "/v2", "", 404, "there is no /v2; openapi.json lists the paths"},
	} {
		status, out := c.send(x.method, x.path, x.text)
		message := fmt.Sprint(out["error"])
		if status != x.status || message != x.want || len(out) != 1 {
			t.Errorf("%s %s %s: %d %v, want %d with %q", x.method, x.path, x.text, status, out, x.status, x.want)
		}
		if goWords.MatchString(message) {
			t.Errorf("%s %s %s: the answer has words of Go: %s", x.method, x.path, x.text, message)
		}
	}
	c.reward(known, 1) // it still waits
	for range 100 {    // as many as are remembered
		c.decide(`{"context": {}}`)
	}
	if status, out := c.send("POST", "/v1/reward", `{"rewards": [{"id": "`+known+`", "reward": 1}]}`); status != 200 ||
		!strings.Contains(fmt.Sprint(out["errors"]), "has expired: the agent has made 100 decisions since; pending and expire in") {
		t.Errorf("status %d, want 200 and an error about expiry: %v", status, out)
	}
	if status, _ := c.send("POST", "/v1/reward", fmt.Sprintf(`{"id": %q, "reward": 1}`, known)); status != http.StatusGone {
		t.Errorf("reward of an expired decision: got status %d, want 410", status)
	}
}

// Without the right token, only health, the page and the description of the API are answered.
func TestServerToken(t *testing.T) {
	c := serving(t, Options{Spec: pages, Token: "secret"})
	c.decide(`{"context": {}}`)
	for _, token := range []string{"", "secre", "secrets", "SECRET"} {
		c.token = token
		for _, path := range []string{"/v1/spec", "/v1/diagnostics", "/metrics", "/debug/pprof/"} {
			if status, out := c.send("GET", path, ""); status != http.StatusUnauthorized {
				t.Errorf("%s with token %q: status %d, want 401: %v", path, token, status, out)
			}
		}
		if status, _ := c.send("GET", "/v1/health", ""); status != http.StatusOK {
			t.Errorf("health with token %q: got status %d, want 200", token, status)
		}
	}
}

// Requests beyond the Rate are refused, and later ones are answered again. Probes are always answered: a busy server is
// not a broken one.
func TestServerRate(t *testing.T) {
	c := serving(t, Options{Spec: pages, Rate: 5, Token: "secret"})
	c.token = "wrong" // requests of strangers do not count
	for range 12 {
		c.send("GET", "/v1/spec", "")
	}
	c.token = "secret"
	var got []int
	for range 12 {
		status, _ := c.send("GET", "/v1/spec", "")
		got = append(got, status)
	}
	if slices.Max(got) != http.StatusTooManyRequests || got[0] != http.StatusOK {
		t.Errorf("got statuses %v, want 200 at first and then 429", got)
	}
	if status, d := c.send("GET", "/v1/health", ""); status != http.StatusOK {
		t.Errorf("health beyond the rate: got status %d, %v, want 200", status, d)
	}
	if text := c.text("/metrics"); !strings.Contains(text, "hyper_decisions_total") {
		t.Errorf("metrics beyond the rate: got %s", text)
	}
}

// A restarted server has the saved data, and the decisions that wait for their reward.
func TestServerRestarts(t *testing.T) {
	o := Options{Spec: pages, Dir: filepath.Join(t.TempDir(), "deep", "agent"), Log: slog.New(slog.DiscardHandler)}
	s := must.M1(New(t.Context(), o))
	var waiting string
	for i := range 5 {
		d := must.M1(s.decide(t.Context(), &api.DecisionRequest{Context: map[string]any{"age": 20.0 + float64(i)}}))
		waiting = d.ID
		if i < 4 {
			y := float32(i)
			must.M1(s.reward(t.Context(), &api.RewardRequest{ID: d.ID, Reward: &y}))
		}
	}
	must.M(s.Close())
	y := float32(1)
	if _, err := s.reward(t.Context(), &api.RewardRequest{ID: waiting, Reward: &y}); statusOf(err) != http.StatusServiceUnavailable {
		t.Errorf("reward after Close: got error %v, want status 503", err)
	}
	again := must.M1(New(t.Context(), o))
	must.M1(again.reward(t.Context(), &api.RewardRequest{ID: waiting, Reward: &y}))
	if n := again.now.Size(); n != 5 {
		t.Errorf("got %d data, want 5", n)
	}
	if _, err := New(t.Context(), o); !errors.Is(err, durable.ErrLocked) || !strings.Contains(err.Error(), "lock") ||
		!strings.HasPrefix(err.Error(), o.Dir+" is the folder of another server, or of a program with an agent: stop it, "+
			"or give another folder with --dir: ") {
		t.Errorf("two servers of one folder: got error %v, want one about the lock", err)
	}
	must.M(again.Close())
	o.Spec.Seed = 3
	if _, err := New(t.Context(), o); err == nil || !strings.Contains(err.Error(), "a different configuration: Seed") {
		t.Errorf("another Spec: got error %v, want one about the seed", err)
	} else if !strings.Contains(err.Error(), "spec.json, then change them and send SIGHUP") {
		t.Errorf("another Spec: got error %v, want one that says what to do", err)
	}
}

// A closed server says that it is closed, and may be closed again.
func TestServerCloses(t *testing.T) {
	c := serving(t, Options{Spec: pages})
	r := must.M1(reading(t, c.url, "", filepath.Join(t.TempDir(), "reader")))
	for _, c := range []*client{r, c} {
		must.M(c.server.Close())
		must.M(c.server.Close())
		status, out := c.send("POST", "/v1/decide", `{"context": {"age": 30}}`)
		if status != http.StatusServiceUnavailable || out["error"] != "the server is closed" {
			t.Errorf("decision after Close: got status %d: %v", status, out)
		}
	}
	for what, err := range map[string]error{"Save": c.server.Save(), "Reload": c.server.Reload(t.Context(), pages),
		"Refresh": r.server.Refresh(t.Context())} {
		if !errors.Is(err, errClosed) {
			t.Errorf("%s after Close: got error %v, want %v", what, err, errClosed)
		}
	}
}

// Clients run while the server is saved and observed.
func TestServerManyClients(t *testing.T) {
	c := serving(t, Options{Spec: pages})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 20 {
				d := c.decide(fmt.Sprintf(`{"context": {"age": %d}}`, 20+i+j))
				c.reward(d["id"], float64(j%2))
				if j%10 == 0 {
					c.send("GET", "/v1/diagnostics", "")
					c.send("POST", "/v1/snapshot", "")
				}
			}
		})
	}
	all.Wait()
	if n := c.server.now.Size(); n != 160 {
		t.Errorf("the agent has learned from %d rewards, want 160", n)
	}
}

// Reload applies fields that control how an agent runs, keeps its belief, and refuses a different agent.
func TestServerReloads(t *testing.T) {
	c := serving(t, Options{Spec: pages})
	id := c.decide(`{"context": {"age": 30}}`)["id"]
	next := pages
	next.Pending, next.Background = 7, 0.5
	must.M(c.server.Reload(t.Context(), next))
	c.reward(id, 1)
	if _, spec := c.send("GET", "/v1/spec", ""); spec["pending"] != 7.0 || spec["background"] != 0.5 {
		t.Error(spec)
	}
	other := pages
	other.Context.Buckets = 4
	if err := c.server.Reload(t.Context(), other); err == nil ||
		!strings.Contains(err.Error(), "context.buckets must be as in the folder, 0, got 4") {
		t.Error(err)
	}
	if err := c.server.Reload(t.Context(), items); err == nil ||
		!strings.Contains(err.Error(), "arms and action must be as in the folder") {
		t.Error(err)
	}
	c.reward(c.decide(`{"context": {"visits": 3}}`)["id"], 1)
	if n := c.server.now.Size(); n != 2 {
		t.Errorf("got %d data, want 2", n)
	}
}

// Reload with a different agent: it has learned from the log, takes the rewards of earlier decisions once, and is there
// after a restart. An agent that cannot learn from the log is refused, and the present one continues.
func TestServerReloadsAnother(t *testing.T) {
	c := serving(t, Options{Spec: pages})
	var waiting any
	for i := range 30 {
		d := c.decide(`{"context": {"age": 30, "visits": 1}}`)
		if waiting = d["id"]; i < 29 {
			c.reward(d["id"], d["action"].(float64)) // "new" is right
		}
	}
	next := pages
	next.Learner, next.Set, next.Seed = "ensemble",
		json.RawMessage(`{"hidden": "8", "particles": 5, "policy": "greedy"}`), 4
	must.M(c.server.Reload(t.Context(), next))
	if n := c.server.now.Size(); n != 29 {
		t.Errorf("got %d data, want 29", n)
	}
	right := 0
	for range 20 {
		right += int(c.decide(`{"context": {"age": 30, "visits": 1}}`)["action"].(float64))
	}
	if right < 15 {
		t.Errorf("the other agent chose the right page %d times of 20", right)
	}
	c.reward(waiting, 1)
	c.reward(waiting, 1)
	if _, spec := c.send("GET", "/v1/spec", ""); spec["learner"] != "ensemble" {
		t.Error(spec)
	}
	bad := next
	bad.Set = json.RawMessage(`{"loss": "logistic", "hidden": "8", "particles": 5}`)
	c.reward(c.decide(`{"context": {"age": 30}}`)["id"], 7) // which a logistic loss cannot learn from
	if err := c.server.Reload(t.Context(), bad); err == nil {
		t.Error("an agent with a logistic loss has learned from a reward of 7")
	}
	c.decide(`{"context": {"age": 30}}`)
	must.M(c.server.Close())
	o := c.server.options
	o.Spec = next
	again := must.M1(New(t.Context(), o))
	if n := again.now.Size(); n != 31 {
		t.Errorf("after a restart: got %d data, want 31", n)
	}
	must.M(again.Close())
}

// Reload refuses another agent if the log lacks what the present one has learned: here by `hyper replay`.
func TestServerReloadsNoneOfOtherData(t *testing.T) {
	c := serving(t, Options{Spec: pages})
	for range 3 {
		c.reward(c.decide(`{"context": {"age": 30, "visits": 1}}`)["id"], 1)
	}
	log := must.M1(offline.OpenLog(func() offline.Records { return c.server.log.All(0) }, pages, c.server.now.names))
	a := must.M1(offline.Replay(t.Context(), log, pages, math.MaxUint64))
	defer a.Close()
	dir := filepath.Join(t.TempDir(), "taught")
	must.M(offline.SaveNew(a, pages, dir))
	taught := must.M1(New(t.Context(), Options{Spec: pages, Dir: dir, Log: slog.New(slog.DiscardHandler)}))
	defer taught.Close()
	next := pages
	next.Seed = 4
	if err := taught.Reload(t.Context(), next); err == nil ||
		!strings.Contains(err.Error(), "learned from 3 rewards, and its log has 0 of them") {
		t.Errorf("got error %v, want that the log lacks 3 rewards", err)
	}
	if n := taught.now.Size(); n != 3 {
		t.Errorf("the agent has %d data, want 3", n)
	}
}

// A handler that panics fails only its own request.
func TestServerPanics(t *testing.T) {
	var log bytes.Buffer
	s := &Server{options: Options{Log: slog.New(slog.NewTextHandler(&log, nil))}}
	w := httptest.NewRecorder()
	s.recovered(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("oh") })).
		ServeHTTP(w, httptest.NewRequest("GET", "/v1/health", nil))
	if w.Code != http.StatusInternalServerError || !strings.Contains(log.String(), "oh") ||
		strings.Contains(w.Body.String(), "oh") {
		t.Errorf("status %d, want 500 without the cause: %s; log %s", w.Code, w.Body, &log)
	}
}
