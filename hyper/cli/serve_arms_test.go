package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/janpfeifer/must"
)

// specOf returns a file with arms named by these letters.
func specOf(t *testing.T, file, letters, more string) {
	t.Helper()
	for key, value := range map[string]string{"context": `{"names": ["x"]}`, "set": `{"waves": 10}`} {
		if !strings.Contains(more, key) {
			more += fmt.Sprintf(`, "%s": %s`, key, value)
		}
	}
	must.M(os.WriteFile(file, []byte(fmt.Sprintf(`{"arms": ["%s"], "floor": 0.9, "pending": 20000%s}`,
		strings.Join(strings.Split(letters, ""), `", "`), more)), 0o600))
}

// A server gets a fourth arm by SIGHUP while clients decide and reward: all requests are answered. If it is killed
// right afterwards, its agent equals the agent that did what the log says. The log can be evaluated across the change.
func TestServeAddsArm(t *testing.T) {
	dir := t.TempDir()
	file, made, data := filepath.Join(dir, "agent.json"), filepath.Join(dir, "made.json"), filepath.Join(dir, "data")
	specOf(t, file, "abc", "")
	specOf(t, made, "abc", "")
	s := startService(t, data, file, "--save-every", "50ms")
	var all sync.WaitGroup
	var asked, failed, fourth atomic.Int64
	var over atomic.Bool
	for w := range 3 {
		all.Go(func() {
			for r := rand.New(rand.NewPCG(1, uint64(w))); !over.Load(); {
				d, ok := ask(s.url+"/v1/decide", fmt.Sprintf(`{"context": {"x": %.3f}}`, r.NormFloat64()))
				if ok && d["name"] == "d" {
					fourth.Add(1)
				}
				taken := false
				if ok {
					_, taken = ask(s.url+"/v1/reward", fmt.Sprintf(`{"id": %q, "reward": %.3f}`, d["id"], r.Float64()))
				}
				if asked.Add(1); !ok || !taken {
					failed.Add(1)
				}
			}
		})
	}
	after := func(n int64) {
		for asked.Load() < n {
			time.Sleep(time.Millisecond)
		}
	}
	after(100)
	before := asked.Load()
	specOf(t, file, "abcd", `, "like": {"d": "b"}`)
	must.M(s.cmd.Process.Signal(syscall.SIGHUP))
	s.said("read again")
	after(asked.Load() + 100)
	over.Store(true)
	all.Wait()
	if t.Logf("%d decisions with rewards, %d of them before; %d failed, %d took the new arm", asked.Load(), before,
		failed.Load(), fourth.Load()); failed.Load() > 0 || fourth.Load() == 0 {
		t.Error("some requests failed, or the new arm was never chosen")
	}
	s.stop(os.Kill)
	uninterrupted(t, made, data)
	other := filepath.Join(dir, "other.json")
	specOf(t, other, "dcba", `, "set": {"waves": 5}`)
	status, out, stderr := call(t, "evaluate", data, "--agent", other)
	if t.Log("\n" + out); status != 0 || strings.Contains(out, "none:") {
		t.Errorf("evaluate: exit status %d, want 0 and estimates: %s %s", status, out, stderr)
	}
	specOf(t, file, "dcba", "")
	s = startService(t, data, file)
	if _, d := s.post("/v1/decide", "", `{"context": {"x": 1}}`); len(d["probabilities"].([]any)) != 4 {
		t.Error(d)
	}
	s.stop(syscall.SIGTERM)
	to := filepath.Join(dir, "to")
	prints(t, []string{"replay", data, "--agent", file, "--to", to}, fmt.Sprintf("learned from %d rewards", asked.Load()))
}

// A server that is killed at any time while its arms and features change has everything that it has acknowledged, and
// continues with the file from before or after the change.
func TestServeKilledWhileArmsChange(t *testing.T) {
	if testing.Short() {
		t.Skip("kills servers; TestServeAddsArm kills one")
	}
	const like, nets = `, "like": {"d": "b"}`, `, "learner": "ensemble", "set": {"hidden": "4", "particles": 3}`
	for name, specs := range map[string][][2]string{
		"in place": {{"abc", ""}, {"cdba", like}, {"ad", like}, {"bade", like}},
		"features": {{"abc", ""}, {"abc", `, "context": {"names": ["y", "x"]}`}, {"ab", ""}},
		"networks": {{"abc", nets}, {"dcba", nets}, {"bade", nets}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := killedBetween(t, specs)
			if made := filepath.Join(t.TempDir(), "made.json"); name == "in place" {
				specOf(t, made, "abc", "")
				uninterrupted(t, made, dir)
			}
		})
	}
}

// killedBetween kills a server while it changes from one file to another, and returns its folder.
func killedBetween(t *testing.T, specs [][2]string) string {
	t.Helper()
	dir := t.TempDir()
	file, data := filepath.Join(dir, "agent.json"), filepath.Join(dir, "data")
	all, r := &clients{sent: map[string]bool{}}, rand.New(rand.NewPCG(2, uint64(time.Now().UnixNano())))
	change := func() {
		next := specs[r.IntN(len(specs))]
		specOf(t, file, next[0], next[1])
	}
	specOf(t, file, specs[0][0], specs[0][1])
	for kill := range *kills {
		s := startService(t, data, file, "--save-every", "70ms")
		var running sync.WaitGroup
		for w := range 4 {
			running.Go(func() { all.run(s.url, rand.New(rand.NewPCG(uint64(kill), uint64(w)))) })
		}
		time.Sleep(100 * time.Millisecond)
		change()
		must.M(s.cmd.Process.Signal(syscall.SIGHUP))
		time.Sleep(time.Duration(r.IntN(150)) * time.Millisecond)
		s.stop(os.Kill)
		running.Wait()
		if r.IntN(2) == 0 {
			change()
		}
	}
	s := startService(t, data, file)
	acked := 0
	for id, answered := range all.sent {
		if answered {
			acked++
			if _, ok := ask(s.url+"/v1/reward", fmt.Sprintf(`{"id": %q, "reward": 9}`, id)); !ok {
				t.Errorf("the reward of %s was acknowledged, but a duplicate of it is refused", id)
			}
		}
	}
	for _, id := range all.decided {
		if _, ok := ask(s.url+"/v1/reward", fmt.Sprintf(`{"id": %q, "reward": 1}`, id)); !ok {
			t.Errorf("the reward of the acknowledged decision %s is refused", id)
		}
	}
	h := s.health()
	s.stop(os.Kill)
	status, out, stderr := call(t, "replay", data, "--to", filepath.Join(dir, "to"))
	if status != 0 || !strings.Contains(out, fmt.Sprintf("learned from %d rewards", h.Data)) || h.Data < acked {
		t.Errorf("server with %d data; replay: exit status %d, want 0 and as many rewards: %s %s",
			h.Data, status, out, stderr)
	}
	t.Logf("%d kills, %d decisions, %d rewards acknowledged, %d learned from", *kills, len(all.sent)+len(all.decided),
		acked, h.Data)
	return data
}
