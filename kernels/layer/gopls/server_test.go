package gopls

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"
)

// A server starts with the first question and ends after some rest. It starts again with the next question, also after
// a crash, with the same files.
func TestServerRests(t *testing.T) {
	t.Parallel()
	gopls := newFakeGopls(t)
	s := newServer(gopls.start, func() map[string]any { return map[string]any{} })
	s.rest = 300 * time.Millisecond
	ctx := t.Context()
	must.M(s.hide(ctx, "file:///none.go"))
	if gopls.starts != 0 {
		t.Fatal("gopls started before a question")
	}
	must.M(s.show(ctx, "file:///a.go", "var a int"))
	for range 4 { // Questions keep the server running.
		must.M(s.call(ctx, "q", struct{}{}, nil))
		time.Sleep(s.rest / 2)
	}
	gopls.hears("initialize . 0", "initialized . 0", "didOpen a.go 1 var a int", "q . 0", "q . 0", "q . 0", "q . 0")
	<-gopls.ends
	if gopls.starts != 1 {
		t.Errorf("gopls was started %d times, want once", gopls.starts)
	}
	time.Sleep(2 * s.rest)
	if s.mu.Lock(); s.runs() {
		t.Error("gopls still runs after the pause")
	}
	s.mu.Unlock()

	must.M(s.show(ctx, "file:///a.go", "var a bool"))
	must.M(s.call(ctx, "q", struct{}{}, nil))
	gopls.hears("initialize . 0", "initialized . 0", "didOpen a.go 2 var a bool", "q . 0")
	must.M((<-gopls.ends).Close()) // The server crashes.
	time.Sleep(50 * time.Millisecond)
	must.M(s.show(ctx, "file:///a.go", "var a bool"))
	must.M(s.call(ctx, "q", struct{}{}, nil))
	gopls.hears("initialize . 0", "initialized . 0", "didOpen a.go 2 var a bool", "q . 0")
	s.stop()
}

// Ending a server ends its process and the process's children. No process counts the usage of gopls.
func TestStartGopls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := filepath.Join(dir, "gopls")
	must.M(os.WriteFile(script, []byte("#!/bin/sh\nsleep 1000 &\necho $! $GO_TELEMETRY_CHILD\nexec sleep 1000\n"), 0o700))
	stream := must.M1(Start(script, dir, os.Environ(), nil))
	line := make([]byte, 100)
	n := must.M1(stream.Read(line))
	child, mode, _ := strings.Cut(strings.TrimSpace(string(line[:n])), " ")
	if mode != "2" {
		t.Errorf("GO_TELEMETRY_CHILD: got %q, want 2", mode)
	}
	must.M(stream.Close())
	if _, err := stream.Read(line); err == nil {
		t.Error("got more to read after the end")
	}
	for began := time.Now(); exec.Command("kill", "-0", child).Run() == nil; time.Sleep(20 * time.Millisecond) {
		if state, err := os.ReadFile("/proc/" + child + "/stat"); err == nil && strings.Contains(string(state), ") Z ") {
			break
		}
		if time.Since(began) > 5*time.Second {
			t.Fatal("a process that the command started still runs")
		}
	}
}
