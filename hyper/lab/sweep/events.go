package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hypermodels/hypermodels/hyper/internal/saved"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// event is a line of a shard's file events.jsonl.
type event struct {
	Time    time.Time `json:"time"`
	What    State     `json:"what"` // started, Interrupted, Failed or Done
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Job     string    `json:"job,omitempty"` // the scheduler's name of the job
	Error   string    `json:"error,omitempty"`
	Rows    int       `json:"rows,omitempty"`
	SHA256  string    `json:"sha256,omitempty"` // SHA-256 of results.jsonl
	Seconds float64   `json:"seconds,omitempty"`
}

const (
	eventsFile    = "events.jsonl"
	heartbeatFile = "heartbeat.json"
)

// record appends an event to the file in a shard's folder, with the time, host and process.
func record(path string, e event) error {
	e.Time, e.PID, e.Job = time.Now().UTC(), os.Getpid(), job()
	e.Host, _ = os.Hostname()
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(path, eventsFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

// job returns the name of the scheduler's job that runs this process, or "".
func job() string {
	if id := os.Getenv("SLURM_ARRAY_JOB_ID"); id != "" {
		return id + "_" + os.Getenv("SLURM_ARRAY_TASK_ID")
	}
	return os.Getenv("HYPER_JOB")
}

// events reads the events of a shard. It ignores lines that a crash left incomplete.
func events(path string) ([]event, error) {
	text, err := os.ReadFile(filepath.Join(path, eventsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var out []event
	for line := range bytes.Lines(text) {
		var e event
		if json.Unmarshal(line, &e) == nil {
			out = append(out, e)
		}
	}
	return out, nil
}

// heartbeat is the progress of a shard when its worker last reported.
type heartbeat struct {
	Done     int64   `json:"done"` // number of run-periods
	Computed int64   `json:"computed"`
	Seconds  float64 `json:"seconds"` // since the worker started
}

// firstBeat is the time until the second heartbeat, and lastBeat the longest time between two heartbeats, because
// thousands of workers may write to one file system. A worker on another machine counts as dead if it was silent for
// the time silence: shared folders may show a file's new time a minute late.
const (
	firstBeat = time.Second
	lastBeat  = 20 * time.Second
	silence   = 90 * time.Second
)

// heart writes the heartbeats of a shard until stop is called. It is safe for concurrent use.
type heart struct {
	mu    sync.Mutex
	path  string
	begin time.Time
	now   lab.Progress
	end   chan struct{}
	ended sync.WaitGroup
}

func newHeart(path string, now lab.Progress) *heart {
	h := &heart{path: path, begin: time.Now(), now: now, end: make(chan struct{})}
	h.write()
	h.ended.Go(func() {
		for wait := firstBeat; ; wait = min(2*wait, lastBeat) {
			select {
			case <-h.end:
				return
			case <-time.After(wait):
				h.write()
			}
		}
	})
	return h
}

func (h *heart) update(now lab.Progress) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = now
}

// write writes the heartbeat. If it cannot be written, write ignores the error.
func (h *heart) write() {
	h.mu.Lock()
	b := heartbeat{Done: h.now.Done, Computed: h.now.Computed, Seconds: time.Since(h.begin).Seconds()}
	h.mu.Unlock()
	if text, err := json.Marshal(b); err == nil {
		_ = saved.WriteFile(filepath.Join(h.path, heartbeatFile), text)
	}
}

func (h *heart) stop() {
	close(h.end)
	h.ended.Wait()
	h.write()
}
