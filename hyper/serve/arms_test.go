package serve

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/durable"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
	"github.com/hypermodels/hypermodels/hyper/serve/offline"
)

// three and four are agents of three arms in a context, and of one more arm, which begins like another.
var (
	three = api.Spec{Arms: []string{"a", "b", "c"}, Context: api.Features{Names: []string{"x"}}, Floor: 0.9,
		Set: json.RawMessage(`{"waves": 20}`), Backend: backend.Go}
	four = with(three, func(s *api.Spec) {
		s.Arms, s.Like = []string{"a", "b", "c", "d"}, map[string]string{"d": "b"}
	})
	plain = api.Spec{Arms: three.Arms, Floor: 0.9, Backend: backend.Go}
	nets  = with(three, func(s *api.Spec) {
		s.Learner, s.Set = "ensemble", json.RawMessage(`{"hidden": "4", "particles": 3}`)
	})
)

func with(s api.Spec, change func(*api.Spec)) api.Spec {
	change(&s)
	return s
}

// half is a Spec whose agent takes half of its actions at random, so that a short log allows an estimate.
func half(s *api.Spec) { s.Floor = 0.5 }

// lives decides n times, and sends rewards; each arm has its own reward.
func (c *client) lives(n int) {
	c.t.Helper()
	now, done := c.server.agent()
	context := len(now.Spec.Context.Names) > 0
	done()
	for i := range n {
		text := `{}`
		if context {
			text = fmt.Sprintf(`{"context": {"x": %d}}`, i%7)
		}
		d := c.decide(text)
		c.reward(d["id"], map[any]float64{"a": 0.2, "b": 0.5, "c": 0.1, "d": 0.9}[d["name"]])
	}
}

// believes returns functions of some arms, from the server's present belief.
func (c *client) believes(arms ...int) [][]float32 {
	s := c.server.now.Snapshot()
	defer s.Close()
	var x [][]float32
	for _, arm := range arms {
		if x = append(x, []float32{float32(arm)}); len(c.server.now.Spec.Context.Names) > 0 {
			x[len(x)-1] = append(x[len(x)-1], 0.5)
		}
	}
	return must.M1(s.Sample(x, 20))
}

// again restarts the server of a folder with a Spec.
func (c *client) again(spec api.Spec) *client {
	c.t.Helper()
	must.M(c.server.Close())
	o := c.server.options
	o.Spec = spec
	s := must.M1(New(c.t.Context(), o))
	return &client{c.t, s, serveOn(c.t, s), c.router, c.token}
}

// asLogged compares the server with an agent that replays its log.
func (c *client) asLogged(made []string) {
	c.t.Helper()
	config := must.M1(agentfile.ConfigWithArms(c.server.now.Spec, made))
	a := must.M1(agent.New(config))
	for r, err := range c.server.log.All(0) {
		must.M(err)
		must.M(a.Apply(r))
	}
	own := a.Snapshot()
	defer own.Close()
	var x [][]float32
	for arm := range a.Arms().Like {
		x = append(x, []float32{float32(arm), 0.5})
	}
	if len(c.server.now.Spec.Context.Names) == 0 {
		for arm := range x {
			x[arm] = x[arm][:1]
		}
	}
	if got := must.M1(own.Sample(x, 20)); !reflect.DeepEqual(got, c.believes(upTo(len(x))...)) ||
		!reflect.DeepEqual(a.Arms(), c.server.now.Arms()) || a.Size() != c.server.now.Size() {
		c.t.Errorf("the agent from the log differs: arms %+v, want %+v", a.Arms(), c.server.now.Arms())
	}
}

// copied copies some files of a folder, or all.
func copied(from, to string, names ...string) {
	if len(names) == 0 {
		must.M(os.RemoveAll(to))
		must.M(os.CopyFS(to, os.DirFS(from)))
	}
	for _, name := range names {
		must.M(os.WriteFile(filepath.Join(to, name), must.M1(os.ReadFile(filepath.Join(from, name))), 0o600))
	}
}

// serveOn runs a server at an address.
func serveOn(t *testing.T, s *Server) string {
	h := httptest.NewServer(s.Handler())
	t.Cleanup(h.Close)
	return h.URL
}

func upTo(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

// A running server gets another arm while clients decide and reward. No request fails, and the agent then equals the
// agent from its log. Without clients, the beliefs about the other arms are the same numbers before and after.
func TestServerAddsArm(t *testing.T) {
	for name, spec := range map[string]api.Spec{"context": three, "alone": plain} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "alone" {
				t.Skip("not in short runs")
			}
			c := serving(t, Options{Spec: spec})
			more := with(spec, func(s *api.Spec) { s.Arms, s.Like = four.Arms, four.Like })
			c.lives(60)
			var all sync.WaitGroup
			stop, mu := make(chan struct{}), sync.Mutex{}
			asked, longest := 0, time.Duration(0)
			for range 6 {
				all.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						begun := time.Now()
						c.lives(1) // which fails where an answer is an error
						mu.Lock()
						asked, longest = asked+1, max(longest, time.Since(begun))
						mu.Unlock()
					}
				})
			}
			time.Sleep(50 * time.Millisecond)
			must.M(c.server.Reload(t.Context(), more))
			time.Sleep(100 * time.Millisecond)
			close(stop)
			all.Wait()
			c.asLogged(spec.Arms)
			t.Logf("%d decisions and rewards while the arm came, the longest two took %v", asked, longest)

			c.lives(40)
			before := c.believes(0, 1, 2, 3)
			must.M(c.server.Reload(t.Context(), with(more, func(s *api.Spec) { s.Arms = append(slices.Clone(s.Arms), "e") })))
			if !reflect.DeepEqual(before, c.believes(0, 1, 2, 3)) && name == "context" { // alone, all arms' numbers are drawn
				t.Error("the beliefs about the existing arms have changed")
			}
			d := c.decide(map[string]string{"context": `{"context": {"x": 1}}`, "alone": `{}`}[name])
			if n := len(d["probabilities"].([]any)); n != 5 {
				t.Errorf("got %d probabilities, want 5", n)
			}
			_, a := c.send("GET", "/v1/activity", "")
			if arms := a["arms"].([]any); len(arms) != 5 || arms[4].(map[string]any)["name"] != "e" {
				t.Errorf("arms: got %v, want 5, the last one e", a["arms"])
			}
			if status, out := c.send("GET", "/v1/diagnostics", ""); status != 200 {
				t.Error(out)
			}
			log := must.M1(offline.OpenFolder(c.server.options.Dir, func() offline.Records { return c.server.log.All(0) }))
			e := must.M1(offline.Evaluate(t.Context(), log, with(more, half), offline.EvaluateOptions{}))
			t.Logf("evaluated across the change: %+v", e)
			if e.Evaluated < 20 || e.Estimators[1].Refused != "" || !(e.Estimators[1].Value > e.Estimators[0].Value-0.2) {
				t.Errorf("evaluation: got %+v, want 20 or more decisions and an estimate", e)
			}
		})
	}
}

// An arm that begins like another has its belief. An arm that is removed learns a late reward, and keeps its belief
// when it comes back, even after a restart. Names in another order are the same arms.
func TestServerArmsComeAndGo(t *testing.T) {
	for name, spec := range map[string]api.Spec{"context": three, "alone": plain} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "alone" {
				t.Skip("not in short runs")
			}
			as := func(arms ...string) api.Spec {
				return with(spec, func(s *api.Spec) { s.Arms = arms })
			}
			request := map[string]string{"context": `{"context": {"x": 1}, "arms": ["a"]}`, "alone": `{"arms": ["a"]}`}[name]
			c := serving(t, Options{Spec: spec})
			c.lives(40)
			late := c.decide(request)["id"]
			like := as("d", "c", "a", "b")
			like.Like = map[string]string{"d": "b"}
			must.M(c.server.Reload(t.Context(), like))
			if f := c.believes(1); !reflect.DeepEqual(f, c.believes(3)) && name == "context" {
				t.Errorf("arm d does not begin with the belief about b: %v, %v", f, c.believes(3))
			}
			d := c.decide(request)
			if d["name"] != "a" || len(d["probabilities"].([]any)) != 1 {
				t.Error(d)
			}
			c.lives(30)
			must.M(c.server.Reload(t.Context(), like)) // the same file again
			must.M(c.server.Reload(t.Context(), as("d", "c")))
			if status, out := c.send("POST", "/v1/decide", request); status != 400 ||
				!strings.Contains(fmt.Sprint(out["error"]), `unknown arm "a"; the arms are d, c`) {
				t.Errorf("missing arm: got status %d: %v", status, out)
			}
			for range 20 {
				d := c.decide(strings.ReplaceAll(request, `"a"`, `"d", "c"`))
				if want := []any{"d", "c"}[int(d["action"].(float64))]; d["name"] != want {
					t.Errorf("got decision %v, want the name of its action", d)
				}
			}
			all := strings.ReplaceAll(request, `"arms": ["a"]`, `"list": 2`)
			if list := c.decide(all)["list"].([]any); len(list) != 2 ||
				list[0].(map[string]any)["name"] == list[1].(map[string]any)["name"] {
				t.Errorf("got list %v, want 2 different names", list)
			}
			status, told := c.send("POST", "/v1/explain", strings.ReplaceAll(all, `"list": 2`, `"arms": ["c", "d"]`))
			if status != 200 || told["actions"].([]any)[1].(map[string]any)["name"] != "d" {
				t.Errorf("explanation: status %d, want 200 and the names: %v", status, told)
			}
			c.lives(10)
			before := c.believes(0)
			c.reward(late, 7)
			kept := c.believes(0)
			if reflect.DeepEqual(before, kept) {
				t.Error("the agent has not learned from a late reward of a removed arm")
			}
			c = c.again(as("b", "a", "d", "c"))
			if !reflect.DeepEqual(kept, c.believes(0)) {
				t.Error("the arm that came back has another belief than before")
			}
			c.lives(30)
			c.asLogged(three.Arms)
			if _, spec := c.send("GET", "/v1/spec", ""); !reflect.DeepEqual(spec["arms"], []any{"b", "a", "d", "c"}) {
				t.Error(spec)
			}
			log := must.M1(offline.OpenFolder(c.server.options.Dir, func() offline.Records { return c.server.log.All(0) }))
			e := must.M1(offline.Evaluate(t.Context(), log, with(as("c", "b", "a", "d"), half), offline.EvaluateOptions{}))
			t.Logf("%+v", e)
			if e.Estimators[1].Refused != "" {
				t.Errorf("evaluation: got %+v, want an estimate", e)
			}
			again := must.M1(offline.Replay(t.Context(), log, as("b", "a", "d", "c"), math.MaxUint64))
			if again.Size() != c.server.now.Size() || !reflect.DeepEqual(again.Arms(), c.server.now.Arms()) {
				t.Errorf("replayed agent: got arms %+v and %d data, want the server's", again.Arms(), again.Size())
			}
			dir := filepath.Join(t.TempDir(), "other")
			must.M(offline.SaveNew(again, as("b", "a", "d", "c"), dir))
			o := Options{Spec: as("a", "b", "d"), Dir: dir, Log: slog.New(slog.DiscardHandler)}
			s := must.M1(New(t.Context(), o))
			if !slices.Equal(s.now.names, []string{"a", "b", "c", "d"}) || !slices.Equal(s.now.Places, []int{0, 1, 3}) {
				t.Errorf("got names %v at places %v, want a, b, c, d at 0, 1, 3", s.now.names, s.now.Places)
			}
			must.M(s.Close())
			must.M(c.server.Close())
		})
	}
}

// A learner without separate beliefs for arms learns anew from the log when an arm is added. Fewer arms, or another
// order, do not need this.
func TestServerArmsOfNetworks(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs")
	}
	c := serving(t, Options{Spec: nets})
	c.lives(30)
	agentBefore := c.server.now.Agent
	must.M(c.server.Reload(t.Context(), with(nets, func(s *api.Spec) { s.Arms = []string{"c", "a"} })))
	if c.server.now.Agent != agentBefore {
		t.Error("the removal of an arm made the agent learn again from the log")
	}
	c.lives(10)
	late := c.decide(`{"context": {"x": 1}, "arms": ["a"]}`)["id"]
	more := with(nets, func(s *api.Spec) { s.Arms = []string{"d", "c", "b", "a"} })
	must.M(c.server.Reload(t.Context(), more))
	if n := c.server.now.Size(); n != 40 {
		t.Errorf("got %d data, want 40", n)
	}
	c.reward(late, 1)
	c.lives(40)
	if _, a := c.send("GET", "/v1/activity", ""); a["arms"].([]any)[0].(map[string]any)["decisions"].(float64) < 3 {
		t.Errorf("activity of arms: got %v, want 3 or more decisions for the first", a["arms"])
	}
	c = c.again(with(more, func(s *api.Spec) { s.Arms = []string{"a", "b", "c", "d", "e"} })) // anew, at a restart
	if n := c.server.now.Size(); n != 81 {
		t.Errorf("got %d data, want 81", n)
	}
	c.lives(10)
	back := with(three, func(s *api.Spec) { s.Arms = []string{"e", "a", "f"} })
	must.M(c.server.Reload(t.Context(), back)) // another learner, and another arm
	c.lives(10)
	if n := c.server.now.Size(); n != 101 || !slices.Equal(c.server.now.names, []string{"a", "b", "c", "d", "e", "f"}) {
		t.Errorf("got %d data and names %v, want 101 and a to f", n, c.server.now.names)
	}
	c = c.again(back)
	c.lives(5)
	log := must.M1(offline.OpenFolder(c.server.options.Dir, func() offline.Records { return c.server.log.All(0) }))
	for _, spec := range []api.Spec{back, more} {
		e := must.M1(offline.Evaluate(t.Context(), log, with(with(spec, half), func(s *api.Spec) {
			s.Arms = []string{"f", "a", "b", "c", "d", "e"}
		}), offline.EvaluateOptions{}))
		if t.Logf("%+v", e); e.Estimators[1].Refused != "" {
			t.Errorf("evaluation: got %+v, want an estimate", e)
		}
	}
	must.M(c.server.Close())
}

// Features are added and removed by learning anew from the log, where they have the names of that time.
func TestServerFeaturesComeAndGo(t *testing.T) {
	c := serving(t, Options{Spec: three})
	c.lives(30)
	late := c.decide(`{"context": {"x": 3}}`)["id"]
	wide := with(three, func(s *api.Spec) { s.Context.Names = []string{"y", "x"} })
	must.M(c.server.Reload(t.Context(), wide))
	if n := c.server.now.Size(); n != 30 {
		t.Errorf("got %d data, want 30", n)
	}
	c.reward(late, 1)
	c.decide(`{"context": {"y": 3, "x": 1}}`)
	c.lives(20)
	of := must.M1(offline.OpenFolder(c.server.options.Dir, func() offline.Records { return c.server.log.All(0) }))
	same := must.M1(offline.Replay(t.Context(), of, wide, math.MaxUint64))
	x := [][]float32{{0, 1, 2}, {1, 0, 3}}
	now, replayed := c.server.now.Snapshot(), same.Snapshot()
	if a, b := must.M1(now.Sample(x, 5)), must.M1(replayed.Sample(x, 5)); !reflect.DeepEqual(a, b) {
		t.Errorf("the agent from the log differs: %v, %v", a, b)
	}
	now.Close()
	replayed.Close()
	c = c.again(with(wide, func(s *api.Spec) { s.Context.Names, s.Arms = []string{"x", "z"}, []string{"c", "b", "a", "d"} }))
	if n := c.server.now.Size(); n != 51 {
		t.Errorf("got %d data, want 51", n)
	}
	c.lives(60)
	log := must.M1(offline.OpenFolder(c.server.options.Dir, func() offline.Records { return c.server.log.All(0) }))
	e := must.M1(offline.Evaluate(t.Context(), log, with(with(four, half), func(s *api.Spec) {
		s.Context.Names = []string{"z", "y", "x"}
	}), offline.EvaluateOptions{}))
	if t.Logf("%+v", e); e.Estimators[1].Refused != "" {
		t.Errorf("evaluation: got %+v, want an estimate", e)
	}
	must.M(c.server.Reload(t.Context(), with(plain, func(s *api.Spec) { s.Arms = four.Arms }))) // without a context
	c.lives(10)
	if n := c.server.now.Size(); n != 121 {
		t.Errorf("got %d data, want 121", n)
	}
	must.M(c.server.Close())
}

// Features of actions are added and removed like features of contexts.
func TestServerActionFeatures(t *testing.T) {
	c := serving(t, Options{Spec: items})
	both := `{"context": {"age": 3}, "actions": [{"features": {"price": 1, "new": true}}, {"features": {"price": 2}}]}`
	for range 10 {
		c.reward(c.decide(both)["id"], 1)
	}
	size := with(items, func(s *api.Spec) { s.Action.Names = []string{"size", "price"} })
	must.M(c.server.Reload(t.Context(), size))
	c.reward(c.decide(strings.ReplaceAll(both, `"new": true`, `"size": 4`))["id"], 1)
	c = c.again(with(items, func(s *api.Spec) { s.Action.Names = []string{"size"} }))
	c.reward(c.decide(strings.ReplaceAll(both, `"price"`, `"size"`))["id"], 1)
	if n := c.server.now.Size(); n != 12 {
		t.Errorf("got %d data, want 12", n)
	}
	var got [][][]float32
	log := must.M1(offline.OpenFolder(c.server.options.Dir, func() offline.Records { return c.server.log.All(0) }))
	for r, err := range log.RecordsFor(size) {
		if must.M(err); r.Decision != nil {
			got = append(got, r.Decision.Actions)
		}
	}
	if got[0][0][0] != 0 || got[0][0][1] != 1 || got[10][0][0] != 4 || got[10][1][1] != 2 || got[11][1][0] != 2 ||
		got[11][1][1] != 0 || slices.Equal(got[0][0][2:], got[0][1][2:]) {
		t.Errorf("got inputs %v, want each feature in its place", got)
	}
}

// An impossible change returns one error that says what is wrong, and the server is unchanged.
func TestServerArmsRefused(t *testing.T) {
	c := serving(t, Options{Spec: three})
	n := serving(t, Options{Spec: nets, KeepLog: time.Nanosecond})
	c.lives(10)
	n.lives(10)
	must.M(n.server.Save())
	arms := func(s api.Spec, like map[string]string, arms ...string) api.Spec {
		return with(s, func(s *api.Spec) { s.Arms, s.Like = arms, like })
	}
	for _, x := range []struct {
		c    *client
		spec api.Spec
		want string
	}{
		{c, arms(three, map[string]string{"d": "q"}, "a", "b", "d"),
			`like: arm "d" cannot begin like "q": want one of the arms that have existed, a, b, c`},
		{c, arms(three, map[string]string{"d": "e"}, "a", "b", "d", "e"),
			`like: arm "d" cannot begin like "e": want one of the arms that have existed, a, b, c`},
		{c, arms(three, map[string]string{"b": "a"}, "a", "b"),
			`like: arm "b" existed before, and keeps what it has learned: leave it out of like, or give the arm ` +
				`another name`},
		{c, arms(three, map[string]string{"d": "a"}, "a", "b"),
			`like: arm "d" is not in arms: leave it out of like, or add it to arms`},
		{c, arms(three, map[string]string{"a": "a"}, "a", "b"), `like: arm "a" must begin like another arm, got "a"`},
		{c, arms(three, nil, "a"), "arms must have at least two names"},
		{c, arms(three, nil, "a", "a"), `arms must have different names, got "a" at place 1`},
		{n, arms(nets, map[string]string{"d": "a"}, "a", "b", "c", "d"), `like must be left out: learner "ensemble" has no ` +
			`separate belief for each arm, and learns anew from the log if arms are added`},
		{n, arms(nets, nil, "a", "b", "c", "d"), "the agent must learn anew from the log to get other arms or features, " +
			"and the log has dropped its records before record"},
		{n, with(nets, func(s *api.Spec) { s.Context.Names = []string{"x", "y"} }), "and the log has dropped its records"},
	} {
		before, now := x.c.server.now.Spec, x.c.server.now.Arms()
		err := x.c.server.Reload(t.Context(), x.spec)
		if err == nil || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, x.want)
		}
		if !reflect.DeepEqual(before, x.c.server.now.Spec) || !reflect.DeepEqual(now, x.c.server.now.Arms()) {
			t.Errorf("the refused change %q has changed the server", x.want)
		}
	}
	c.lives(2)
	n.lives(2)
	fresh := Options{Spec: arms(three, map[string]string{"a": "q"}, "a", "b"), Dir: t.TempDir(), Log: n.server.options.Log}
	if _, err := New(t.Context(), fresh); err == nil || !strings.Contains(err.Error(), `cannot begin like "q"`) {
		t.Errorf("new folder: got error %v, want one about the arm q", err)
	}
	fresh.Spec.Like["a"], fresh.Dir = "b", t.TempDir()
	for range 2 {
		must.M(must.M1(New(t.Context(), fresh)).Close())
	}
	log := must.M1(offline.OpenFolder(c.server.options.Dir, func() offline.Records { return c.server.log.All(0) }))
	if _, err := offline.Evaluate(t.Context(), log, arms(three, nil, "a", "bb"), offline.EvaluateOptions{}); err == nil ||
		!strings.Contains(err.Error(), `arms must be arms of the log, a, b, c; got "bb"`) {
		t.Error(err)
	}
}

// A server that ends between two writes of a change restarts correctly, with the Spec from before or after the change.
func TestServerArmsCrash(t *testing.T) {
	specs := []api.Spec{three, plain, nets}
	if testing.Short() {
		specs = specs[:1]
	}
	for _, spec := range specs {
		more := with(spec, func(s *api.Spec) { s.Arms = four.Arms })
		c := serving(t, Options{Spec: spec})
		c.lives(20)
		must.M(c.server.Save())
		o := c.server.options
		old, killed := t.TempDir(), t.TempDir()
		copied(o.Dir, old)
		must.M(c.server.Reload(t.Context(), more))
		if len(spec.Learner) == 0 {
			c.lives(5)
			c.asLogged(spec.Arms)
		}
		size := c.server.now.Size()
		copied(o.Dir, killed)
		must.M(c.server.Close())
		for _, file := range []string{"before", "after", "none"} { // the agent's file
			for _, left := range []string{"before", "after"} { // spec.json
				for _, next := range []api.Spec{spec, more} {
					if file == "none" && spec.Learner != "" || // it takes `hyper replay`
						testing.Short() && len(next.Arms) == 3 {
						continue
					}
					dir := t.TempDir()
					copied(killed, dir)
					if file == "before" {
						copied(old, dir, agentfile.AgentFile)
					}
					if left == "before" {
						copied(old, dir, "spec.json")
					}
					if file == "none" {
						must.M(os.Remove(filepath.Join(dir, agentfile.AgentFile)))
					}
					o.Dir, o.Spec = dir, next
					s, err := New(t.Context(), o)
					if err != nil {
						t.Errorf("file %s, Spec %s, started with the arms %v: got error %v", file, left, next.Arms, err)
						continue
					}
					again := &client{t, s, serveOn(t, s), router(), ""}
					names := four.Arms
					if spec.Learner != "" && file == "before" {
						names = next.Arms
					}
					if s.now.Size() != size || !slices.Equal(s.now.Spec.Arms, next.Arms) || !slices.Equal(s.now.names, names) {
						t.Errorf("file %s, Spec %s, started with the arms %v: got %d data of %d and names %v",
							file, left, next.Arms, s.now.Size(),
							size, s.now.names)
					}
					again.lives(5)
					must.M(s.Close())
				}
			}
		}
	}
}

// If the log has dropped the record of a change, the agent's file has the names.
func TestServerArmsOfTrimmedLog(t *testing.T) {
	c := serving(t, Options{Spec: three, KeepLog: time.Nanosecond})
	c.lives(20)
	must.M(c.server.Reload(t.Context(), four))
	c.lives(3)
	must.M(c.server.Save())
	c.lives(60)
	log := must.M1(offline.OpenFolder(c.server.options.Dir, func() offline.Records { return c.server.log.All(0) }))
	if log.First() == 0 {
		t.Fatalf("the log begins with record %d, so the test shows nothing", log.First())
	}
	reordered := with(with(three, half), func(s *api.Spec) { s.Arms = []string{"d", "c", "b", "a"} })
	if e := must.M1(offline.Evaluate(t.Context(), log, reordered, offline.EvaluateOptions{})); e.Decisions != 60 ||
		e.Estimators[1].Refused != "" {
		t.Errorf("evaluation: got %+v, want 60 decisions and an estimate", e)
	}
	if a := must.M1(offline.Replay(t.Context(), log, reordered, math.MaxUint64)); a.Size() != 60 ||
		!slices.Equal(a.Arms().Offered, []int{3, 2, 1, 0}) {
		t.Errorf("got %d data and arms %+v, want 60 and arms 3, 2, 1, 0", a.Size(), a.Arms())
	}
	c = c.again(with(four, func(s *api.Spec) { s.Arms = []string{"d", "e", "a"} }))
	c.lives(5)
	must.M(c.server.Close())
}

// Servers that read follow the changes of the server that learns.
func TestServerReadsArms(t *testing.T) {
	for i, spec := range []api.Spec{three, plain, nets} {
		if testing.Short() && i > 0 {
			continue
		}
		c := serving(t, Options{Spec: spec})
		r := must.M1(reading(t, c.url, "", filepath.Join(t.TempDir(), "reader")))
		c.lives(20)
		more := with(spec, func(s *api.Spec) { s.Arms = []string{"d", "b", "a"} })
		must.M(c.server.Reload(t.Context(), more))
		must.M(r.server.Refresh(t.Context()))
		request := map[bool]string{true: `{}`, false: `{"context": {"x": 1}}`}[len(spec.Context.Names) == 0]
		seen := map[any]bool{}
		for range 60 {
			d := r.decide(request)
			want := []any{"d", "b", "a"}[int(d["action"].(float64))]
			if d["name"] != want || len(d["probabilities"].([]any)) != 3 {
				t.Fatal(d)
			}
			seen[d["name"]] = true
		}
		if !seen["d"] {
			t.Error("the reader never chose the new arm")
		}
		fewer := with(spec, func(s *api.Spec) { s.Arms = []string{"c", "a"} })
		must.M(c.server.Reload(t.Context(), fewer)) // nothing was learned since
		must.M(r.server.Refresh(t.Context()))
		if d := r.decide(request); len(d["probabilities"].([]any)) != 2 {
			t.Error(d)
		}
		must.M(r.server.openSnapshot())
		if d := r.decide(request); len(d["probabilities"].([]any)) != 2 {
			t.Error(d)
		}
	}
}

// A log without changes has no records of a later version: older programs can read it.
func TestServerLogUnchanged(t *testing.T) {
	c := serving(t, Options{Spec: three})
	c.lives(20)
	must.M(c.server.Close())
	for r, err := range must.M1(durable.Open(filepath.Join(c.server.options.Dir, logFolder),
		durable.Options{ReadOnly: true})).All(0) {
		must.M(err)
		if r.Arms != nil || r.Features != nil {
			t.Error("a log without a change has records of a later version")
		}
	}
}

// The weights of a log that Thompson sampling wrote have a mean of 1 for an agent that draws one function, also if its
// file has the seed of the log. With rewards of 1 the estimate is the mean weight.
func TestEvaluationDrawsItsOwnFunctions(t *testing.T) {
	spec := api.Spec{Arms: []string{"a", "b", "c", "d"}, Floor: 0.2, Backend: backend.Go}
	c := serving(t, Options{Spec: spec})
	for range 800 {
		c.reward(c.decide(`{}`)["id"], 1)
	}
	log := must.M1(offline.OpenFolder(c.server.options.Dir, func() offline.Records { return c.server.log.All(0) }))
	spec.Learner = "linear"
	for _, set := range []string{`{}`, `{"policy": "egreedy", "policy-samples": 1}`} {
		spec.Set = json.RawMessage(set)
		e := must.M1(offline.Evaluate(t.Context(), log, spec, offline.EvaluateOptions{}))
		if ips := e.Estimators[len(e.Estimators)-1]; ips.Name != "ips" || ips.Refused != "" ||
			!(ips.Lower <= 1 && 1 <= ips.Upper) {
			t.Errorf("settings %s: got %+v, want an interval that contains 1", set, ips)
		}
	}
}
