package agent_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/durable"
	"github.com/hypermodels/hypermodels/hyper/backend"
)

var kills = flag.Int("kills", 4, "how many times TestSettlingThroughKills kills the process of the agent")

// killedDir is the environment variable with the folder of a process that TestSettlingThroughKills starts.
const killedDir = "HYPER_AGENT_TEST_DIR"

// settledSoon configures an agent whose decisions are settled a few milliseconds after they are made or shown; some
// decisions are pushed out earlier by others.
func settledSoon() agent.Config {
	c := agent.Config{Backend: backend.Go, Seed: 3, Pending: 40}.Arms(3)
	c.Reward = silentSum(0)
	c.Reward.Wait = 5 * time.Millisecond
	return c
}

func logIn(dir string) *durable.Log {
	return must.M1(durable.Open(filepath.Join(dir, "log"), durable.Options{Log: slog.New(slog.DiscardHandler)}))
}

// serveForever decides, shows and rewards from four goroutines, in time and late, and saves. It prints what the agent
// has acknowledged.
func serveForever(dir string) {
	a := must.M1(agent.Open(settledSoon(), filepath.Join(dir, "agent"), logIn(dir)))
	say := func(format string, args ...any) { // a short write to a pipe is whole or not there
		must.M1(os.Stdout.WriteString(fmt.Sprintf(format+"\n", args...)))
	}
	for w := range 4 {
		go func() {
			r := rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(w)))
			for i := 0; ; i++ {
				deferred := r.IntN(4) == 0
				d := must.M1(a.Decide(context.Background(), agent.Menu{Deferred: deferred}))
				if shown := r.IntN(2) == 0; deferred && !shown {
					say("hidden %s 0", d.ID)
					continue
				}
				if deferred {
					must.M(a.Shown(context.Background(), d.ID))
				}
				say("made %s 0", d.ID)
				for range r.IntN(3) {
					time.Sleep(time.Duration(r.IntN(8)) * time.Millisecond)
					y := 1 + r.IntN(5)
					if a.Observe(context.Background(), agent.Feedback{ID: d.ID, Reward: float32(y)}) == nil { // or others pushed it out
						say("reward %s %d", d.ID, y)
					}
				}
				if i%40 == 39 {
					must.M(a.Save(filepath.Join(dir, "agent")))
				}
			}
		}()
	}
	select {}
}

// An agent whose process is killed with kill -9 at any time learns from each decision once: the default, or the rewards
// that it has acknowledged, even late ones. The agent from its file and the rest of the log equals the agent from the
// whole log, to the bit.
func TestSettlingThroughKills(t *testing.T) {
	if dir := os.Getenv(killedDir); dir != "" {
		serveForever(dir)
	}
	agent.NotInShort(t)
	dir, r := t.TempDir(), rand.New(rand.NewPCG(1, 1))
	made, hidden, rewards := map[string]bool{}, map[string]bool{}, map[string]float32{}
	for range *kills {
		c := exec.Command(os.Args[0], "-test.run=^TestSettlingThroughKills$")
		c.Env, c.Stderr = append(os.Environ(), killedDir+"="+dir), os.Stderr
		out := must.M1(c.StdoutPipe())
		must.M(c.Start())
		lines := bufio.NewScanner(out)
		if !lines.Scan() { // it takes a while to begin
			t.Fatal("the process printed nothing")
		}
		time.AfterFunc(time.Duration(r.IntN(150))*time.Millisecond, func() { _ = c.Process.Kill() })
		for first := true; first || lines.Scan(); first = false {
			var what, id string
			var y float32
			must.M1(fmt.Sscan(lines.Text(), &what, &id, &y))
			made[id] = made[id] || what != "hidden"
			hidden[id] = what == "hidden"
			rewards[id] += y
		}
		must.M1(io.Copy(io.Discard, out))
		_ = c.Wait() // it was killed
	}
	log := logIn(dir)
	defer func() { must.M(log.Close()) }()
	a := must.M1(agent.Open(settledSoon(), filepath.Join(dir, "agent"), log))
	must.M(a.SettleAt(time.Now().Add(time.Hour)))
	a.Close()
	learned, last, kept := 0, map[string]float32{}, map[string]float32{}
	for r, err := range log.All(0) {
		must.M(err)
		if f := r.Feedback; f != nil {
			kept[f.ID] += f.Reward
		}
		s := r.Settled
		if s == nil {
			continue
		}
		if _, again := last[s.ID]; again && s.Default {
			t.Errorf("%s got the default, and had been learned from", s.ID)
		} else if !again {
			learned++
		}
		if hidden[s.ID] {
			t.Errorf("decision %s was never shown, but the agent learned from it", s.ID)
		}
		last[s.ID] = s.Reward
	}
	late := 0
	for id := range made {
		y, ok := last[id]
		// A reward may be in the log although it was not acknowledged.
		if made[id] && (!ok || y < rewards[id] || y > rewards[id]+5) {
			t.Errorf("decision %s: settled %v with %v, but its rewards are %v", id, ok, y, rewards[id])
		}
		if ok && y > kept[id] {
			late++
		}
	}
	if a.Size() != learned || len(made) < 10**kills || late == 0 {
		t.Errorf("got %d data from %d settled decisions; %d were made, %d corrected",
			a.Size(), learned, len(made), late)
	}
	t.Logf("%d kills, %d decisions, %d settled, %d corrected", *kills, len(made), learned, late)
	b := must.M1(agent.Open(settledSoon(), filepath.Join(dir, "none"), log))
	b.Close()
	same(t, a.Whole(), b.Whole())
}
