package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/janpfeifer/must"
)

var (
	load     = flag.Duration("load", time.Second/4, "how long TestServeLoad asks; from a minute on it has bounds")
	loadRate = flag.Int("load.rate", 200, "decisions a second that TestServeLoad asks for")
	loadSpec = flag.String("load.agent", `{"arms": ["a", "b", "c", "d"], "context": {"names": ["x", "y", "z"]}}`,
		"agent that TestServeLoad asks, as hyper serve takes it")
)

// loaded has the latencies of one minute, in seconds.
type loaded struct {
	mu      sync.Mutex
	seconds []float64
	failed  atomic.Int64
}

func (l *loaded) took(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seconds = append(l.seconds, d.Seconds())
}

// median returns the median, and changes nothing.
func median(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// flush returns the median and the 99th percentile in milliseconds, and the number of latencies, and removes them.
func (l *loaded) flush() (p50, p99 float64, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.seconds
	l.seconds = nil
	if len(all) == 0 {
		return 0, 0, 0
	}
	slices.Sort(all)
	return 1e3 * all[len(all)/2], 1e3 * all[len(all)*99/100], len(all)
}

// resident returns the memory of a process in MiB; 0 if the system does not report it.
func resident(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(text), "VmRSS:")
	kib, _ := strconv.ParseFloat(strings.Fields(after + " 0")[0], 64)
	return kib / 1024
}

// A server answers decisions that are requested at a steady rate, whether or not it keeps up, and learns from one
// reward in 20. Latencies count from the time at which a request was due. With -load 30m -load.rate 2000, the 99th
// percentile of each minute is under 20 ms, and the median memory of the last ten minutes equals that of the ten
// minutes before.
func TestServeLoad(t *testing.T) {
	s := startService(t, filepath.Join(t.TempDir(), "data"), written(t, "agent.json", *loadSpec))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	post := func(path, text string) (out struct{ ID string }, err error) {
		w, err := client.Post(s.url+path, "application/json", strings.NewReader(text))
		if err != nil {
			return out, err
		}
		defer w.Body.Close()
		var body bytes.Buffer
		must.M1(body.ReadFrom(w.Body))
		if w.StatusCode != http.StatusOK {
			return out, fmt.Errorf("%d %s", w.StatusCode, &body)
		}
		return out, json.Unmarshal(body.Bytes(), &out)
	}
	var l loaded
	var clients sync.WaitGroup
	due, begun := make(chan time.Time, 1<<16), time.Now()
	for w := range 32 {
		clients.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(w)))
			for at := range due {
				d, err := post("/v1/decide", fmt.Sprintf(`{"context": {"x": %.3f, "y": %.3f, "z": 1}}`, r.NormFloat64(),
					r.NormFloat64()))
				l.took(time.Since(at))
				if err == nil && r.IntN(20) == 0 {
					_, err = post("/v1/reward", fmt.Sprintf(`{"id": %q, "reward": %.3f}`, d.ID, r.NormFloat64()))
				}
				if err != nil && l.failed.Add(1) == 1 {
					t.Error(err)
				}
			}
		})
	}
	report, memory := time.Now(), []float64(nil) // of each minute
	for i := 0; time.Since(begun) < *load; i++ {
		at := begun.Add(time.Duration(i) * time.Second / time.Duration(*loadRate))
		time.Sleep(time.Until(at))
		due <- at
		if time.Since(report) < time.Minute {
			continue
		}
		report = time.Now()
		p50, p99, n := l.flush()
		memory = append(memory, resident(s.cmd.Process.Pid))
		t.Logf("%2.0f min: %d decisions, p50 %.2f ms, p99 %.2f ms, %.0f MiB", time.Since(begun).Minutes(), n, p50, p99,
			memory[len(memory)-1])
		if p99 > 20 {
			t.Errorf("the 99th percentile of a minute is %.1f ms, which is too long", p99)
		}
	}
	close(due)
	clients.Wait()
	p50, p99, n := l.flush()
	t.Logf("rest: %d decisions, p50 %.2f ms, p99 %.2f ms; %d of all failed", n, p50, p99, l.failed.Load())
	if third := len(memory) / 3; third > 2 { // one minute differs from the next by what Go is to free
		before, after := median(memory[third:2*third]), median(memory[2*third:])
		t.Logf("memory: %.0f MiB in the second third, %.0f in the last", before, after)
		if after > 1.1*before {
			t.Errorf("memory has grown from %.0f to %.0f MiB", before, after)
		}
	}
}
