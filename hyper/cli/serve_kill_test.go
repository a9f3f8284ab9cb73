package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/durable"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
)

var kills = flag.Int("kills", 3, "how often TestServeKilled kills the server")

// clients records the answers that the clients of a server got.
type clients struct {
	mu      sync.Mutex
	decided []string        // decisions that were answered, without a reward
	sent    map[string]bool // decisions whose rewards were sent: true is answered
}

// ask sends a request, and returns the answer, or false if there was none.
func ask(url, text string) (out map[string]any, ok bool) {
	w, err := http.Post(url, "application/json", strings.NewReader(text))
	if err != nil {
		return nil, false
	}
	defer w.Body.Close()
	return out, json.NewDecoder(w.Body).Decode(&out) == nil && w.StatusCode == http.StatusOK
}

// remembered reports whether a decision is one of the last, which have not expired.
func (c *clients) remembered(id string) bool {
	var number int
	must.M1(fmt.Sscanf(id, "%x-", &number))
	return number > len(c.sent)+len(c.decided)-15000
}

// run is a client that runs until the server is gone: it decides, and sends rewards late and sometimes twice.
func (c *clients) run(url string, r *rand.Rand) {
	for {
		d, ok := ask(url+"/v1/decide", fmt.Sprintf(`{"context": {"x": %.3f}}`, r.NormFloat64()))
		if !ok {
			return
		}
		c.mu.Lock()
		c.decided = append(c.decided, d["id"].(string))
		at := r.IntN(len(c.decided))
		id := c.decided[at]
		again := r.IntN(5) == 0
		if !again {
			c.decided = append(c.decided[:at], c.decided[at+1:]...)
		}
		c.sent[id] = c.sent[id] || false
		c.mu.Unlock()
		if _, ok = ask(url+"/v1/reward", fmt.Sprintf(`{"id": %q, "reward": %.3f}`, id, r.NormFloat64())); !ok {
			return
		}
		c.mu.Lock()
		c.sent[id] = true
		c.mu.Unlock()
	}
}

// A server that is killed under load, again and again, has everything that it has acknowledged, and nothing twice:
// decisions take their rewards, and rewards are counted once. Its agent then equals the agent that did what the log
// says without interruption: the two take the same decisions.
func TestServeKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("kills servers; TestServeAddsArm kills one")
	}
	dir := t.TempDir()
	file, data := filepath.Join(dir, "agent.json"), filepath.Join(dir, "data")
	must.M(os.WriteFile(file,
		[]byte(`{"arms": ["a", "b", "c"], "context": {"names": ["x"]}, "set": {"waves": 10}, "pending": 20000}`), 0o600))
	all, r := &clients{sent: map[string]bool{}}, rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	for kill := range *kills {
		s := startService(t, data, file, "--save-every", "70ms")
		var running sync.WaitGroup
		for w := range 6 {
			running.Go(func() { all.run(s.url, rand.New(rand.NewPCG(uint64(kill), uint64(w)))) })
		}
		time.Sleep(time.Duration(r.IntN(250)) * time.Millisecond)
		s.stop(os.Kill)
		running.Wait()
	}
	s := startService(t, data, file)
	acked := 0
	for id, answered := range all.sent {
		if answered {
			acked++
		}
		if answered && all.remembered(id) {
			if _, ok := ask(s.url+"/v1/reward", fmt.Sprintf(`{"id": %q, "reward": 9}`, id)); !ok {
				t.Errorf("the reward of %s was acknowledged, but a duplicate of it is refused", id)
			}
		}
	}
	h := s.health()
	if h.Data < acked || h.Data > len(all.sent) {
		t.Errorf("the agent has learned from %d rewards; %d were acknowledged of %d sent", h.Data, acked, len(all.sent))
	}
	for _, id := range all.decided {
		if !all.remembered(id) {
			continue
		}
		if _, ok := ask(s.url+"/v1/reward", fmt.Sprintf(`{"id": %q, "reward": 1}`, id)); !ok {
			t.Errorf("the reward of the acknowledged decision %s is refused", id)
		}
	}
	s.stop(os.Kill)
	t.Logf("%d kills, %d decisions, %d rewards acknowledged of %d sent, %d learned from",
		*kills, len(all.sent)+len(all.decided), acked, len(all.sent), h.Data)
	uninterrupted(t, file, data)
}

// uninterrupted compares the agent of a folder with the agent that did what its log says.
func uninterrupted(t *testing.T, file, data string) {
	t.Helper()
	c := must.M1(agentfile.Config(must.M1(agentfile.Read(file))))
	log := must.M1(durable.Open(filepath.Join(data, "log"), durable.Options{Log: slog.New(slog.DiscardHandler)}))
	defer log.Close()
	whole := must.M1(agent.Open(c, filepath.Join(t.TempDir(), "none"), log))
	again := must.M1(agent.Open(c, filepath.Join(data, "agent"), log))
	if whole.Size() != again.Size() || whole.Size() == 0 {
		t.Errorf("got %d data from the log and %d from the server, want equal numbers above 0",
			whole.Size(), again.Size())
	}
	for i := range 20 {
		m := agent.Menu{Context: []float32{float32(i) / 10}}
		a, b := must.M1(whole.Decide(t.Context(), m)), must.M1(again.Decide(t.Context(), m))
		if a.Action != b.Action || !reflect.DeepEqual(a.Probabilities, b.Probabilities) {
			t.Fatalf("decision %d: got %+v from the whole log, %+v from the file and the rest, want equal decisions",
				i, a, b)
		}
	}
}
