package durable

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

var kills = flag.Int("kills", 20, "how many times TestKill kills the process that writes the log")

// These are the environment variables of a process that TestKill starts: the folder, and its Sync.
const (
	childDir  = "HYPER_DURABLE_TEST_DIR"
	childSync = "HYPER_DURABLE_TEST_SYNC"
)

// A process that is killed with kill -9 at any time, even while it opens the log, keeps what Append has acknowledged:
// each record is there once, with its number. The next process continues with the same folder. Every second process
// uses Sync None, with which only a failure of the machine may lose records.
func TestKill(t *testing.T) {
	if dir := os.Getenv(childDir); dir != "" {
		appendForever(dir, Sync(must.M1(strconv.Atoi(os.Getenv(childSync)))))
	}
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 1))
	acked := map[uint64]string{}
	idle, from := 0, uint64(0)
	for k := range *kills {
		before := len(acked)
		if out := killed(t, dir, []Sync{Each, None}[k%2], r.IntN(80), k%4 < 2, acked); out != "" {
			t.Fatalf("kill %d: the process printed %s, want nothing", k, out)
		}
		if len(acked) == before {
			idle++
		}
		from = verified(t, dir, from, acked)
	}
	verified(t, dir, 0, acked)
	t.Logf("%d kills, %d of them before the first record; %d acknowledged records, of %d", *kills, idle, len(acked), from)
	if idle == *kills {
		t.Error("no process wrote a record, so the test shows nothing")
	}
}

// appendForever appends from 8 goroutines, and prints the number and the ID of each acknowledged record.
func appendForever(dir string, sync Sync) {
	l := must.M1(Open(dir, Options{Log: silent, Sync: sync, segment: 100_000}))
	for w := range 8 {
		go func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("%d-%d-%d", os.Getpid(), w, i)
				number := must.M1(put(l, journal.Record{Feedback: &journal.Feedback{ID: id, Reward: 1}}))
				// A short write to a pipe is whole or not there.
				must.M1(os.Stdout.WriteString(fmt.Sprintf("%d %s\n", number, id)))
			}
		}()
	}
	select {}
}

// killed runs appendForever in another process, and kills it some milliseconds after its start (opening), or after its
// first record. It notes what the process acknowledged, and returns the errors that the process printed.
func killed(t *testing.T, dir string, how Sync, ms int, opening bool, acked map[uint64]string) string {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestKill$")
	c.Env = append(os.Environ(), childDir+"="+dir, fmt.Sprintf("%s=%d", childSync, how))
	var complaint writer
	c.Stderr = &complaint
	out := must.M1(c.StdoutPipe())
	must.M(c.Start())
	kill := sync.OnceFunc(func() {
		time.AfterFunc(time.Duration(ms)*time.Millisecond, func() { _ = c.Process.Kill() })
	})
	if opening {
		kill()
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		kill()
		var number uint64
		var id string
		if _, err := fmt.Sscanf(lines.Text(), "%d %s", &number, &id); err != nil {
			t.Fatalf("cannot read the line %q: %v", lines.Text(), err)
		}
		if was, ok := acked[number]; ok {
			t.Fatalf("number %d was acknowledged for %s, and again for %s", number, was, id)
		}
		acked[number] = id
	}
	_ = c.Wait() // it was killed
	return complaint.String()
}

// verified opens the log and compares its records, from a number onward, with the acknowledged ones. It returns the
// next number.
func verified(t *testing.T, dir string, from uint64, acked map[uint64]string) uint64 {
	t.Helper()
	l := must.M1(Open(dir, Options{Log: silent}))
	defer func() { must.M(l.Close()) }()
	next, ids := from, map[string]bool{}
	for r, err := range l.All(from) {
		if err != nil || r.Number != next {
			t.Fatalf("got record %d, want %d: %v", r.Number, next, err)
		}
		if id, ok := acked[next]; ok && r.Feedback.ID != id {
			t.Fatalf("record %d has ID %s, want the acknowledged %s", next, r.Feedback.ID, id)
		}
		if ids[r.Feedback.ID] {
			t.Fatalf("ID %s is in the log twice", r.Feedback.ID)
		}
		ids[r.Feedback.ID] = true
		next++
	}
	for number, id := range acked {
		if number >= next {
			t.Fatalf("the acknowledged record %d, %s, is lost: the log ends with %d", number, id, next)
		}
	}
	return next
}

// writer keeps what is written, from any goroutine.
type writer struct {
	mu  sync.Mutex
	out []byte
}

func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = append(w.out, p...)
	return len(p), nil
}

func (w *writer) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.out)
}
