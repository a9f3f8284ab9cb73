package serve

import (
	"fmt"
	"math"
	"net/http"
	"testing"
)

// A list has a decision for each place, with its own rewards. The first place is the answer itself.
func TestServerLists(t *testing.T) {
	spec := pages
	spec.Arms = []string{"a", "b", "c", "d"}
	c := serving(t, Options{Spec: spec})
	d := c.decide(`{"context": {"age": 30}, "arms": ["d", "b", "a"], "list": 2}`)
	list := d["list"].([]any)
	first, second := list[0].(map[string]any), list[1].(map[string]any)
	if len(list) != 2 || first["id"] != d["id"] || first["name"] != d["name"] || second["name"] == first["name"] ||
		second["id"] == first["id"] {
		t.Errorf("got list %v, want 2 different actions", d)
	}
	p := second["probabilities"].([]any)
	of := func(d map[string]any) any { return p[int(d["action"].(float64))] }
	if len(p) != 3 || of(first) != 0.0 || of(second) != second["probability"] {
		t.Errorf("second place: got %v, want probability 0 for the first action", second)
	}
	c.reward(second["id"], 1)
	c.reward(first["id"], 0)
	if _, h := c.send("GET", "/v1/health", ""); h["data"] != 2.0 {
		t.Errorf("health: got %v, want 2 data", h)
	}
	_, a := c.send("GET", "/v1/activity", "")
	if a["decisions"] != 2.0 || a["rewards"] != 2.0 {
		t.Errorf("activity: got %v, want 2 decisions and 2 rewards", a)
	}
	for _, n := range []int{-1, 4} {
		text := fmt.Sprintf(`{"context": {"age": 30}, "arms": ["d", "b", "a"], "list": %d}`, n)
		if status, f := c.send("POST", "/v1/decide", text); status != http.StatusBadRequest {
			t.Errorf("list of %d: status %d, want 400: %v", n, status, f)
		}
	}
}

// /v1/explain names the feature that matters, even if it is hashed or belongs to an action. It makes no decision.
func TestServerExplains(t *testing.T) {
	spec := pages
	spec.Context.Buckets = 4
	c := serving(t, Options{Spec: spec})
	for i := range 150 {
		age, country := 20+37*i%50, []string{"fr", "de", "es"}[i%3]
		d := c.decide(fmt.Sprintf(`{"context": {"age": %d, "visits": %d, "country": %q}}`, age, i%4, country))
		right, y := "old", 0.0
		if age > 45 {
			right = "new"
		}
		if d["name"] == right {
			y = 1
		}
		c.reward(d["id"], y)
	}
	status, out := c.send("POST", "/v1/explain", `{"context": {"age": 68, "visits": 3, "country": "fr"}}`)
	actions := out["actions"].([]any)
	if status != http.StatusOK || len(actions) != 2 {
		t.Fatalf("explanation: status %d, want 200 and 2 actions: %v", status, out)
	}
	for i, sign := range []float64{-1, 1} {
		one := actions[i].(map[string]any)
		effects := one["effects"].([]any)
		first := effects[0].(map[string]any)
		if one["name"] != spec.Arms[i] || first["name"] != "age" || first["of"] != "context" ||
			first["effect"].(float64)*sign <= 0 || math.Abs(one["mean"].(float64)-float64(i)) > 0.5 {
			t.Errorf("explanation of one action: got %v, want the effect of age", one)
		}
		found := false
		for _, e := range effects {
			found = found || e.(map[string]any)["name"] == "country=fr"
		}
		if !found {
			t.Errorf("effects %v do not have country=fr", effects)
		}
	}
	if _, h := c.send("GET", "/v1/health", ""); h["data"] != 150.0 {
		t.Errorf("health: got %v, want 150 data", h)
	}
	for text, want := range map[string]int{
		`{"context": {"age": 68}, "list": 1}`:        http.StatusBadRequest,
		`{"context": {"age": 68}, "deferred": true}`: http.StatusBadRequest,
		`{"context": {"weight": 3, "age": "x"}}`:     http.StatusBadRequest,
		`{}`:                                         http.StatusBadRequest,
		`{"context": {"age": 1e30}}`:                 http.StatusUnprocessableEntity,
	} {
		if status, f := c.send("POST", "/v1/explain", text); status != want {
			t.Errorf("%s: status %d: %v", text, status, f)
		}
	}
	c = serving(t, Options{Spec: items})
	_, out = c.send("POST", "/v1/explain", `{"context": {"age": 30}, "actions": [{"id": "a", "features": {"price": 3}},
		{"id": "b", "features": {"price": 4}}]}`)
	if one := out["actions"].([]any)[1].(map[string]any); one["name"] != "b" {
		t.Errorf("explanation of some arms: got %v, want b as the second", out)
	}
}
