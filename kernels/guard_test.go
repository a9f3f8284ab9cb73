package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/kernels/internal/testprogram"
)

// TestGuardLeavesNothing kills the parent of a guard whose command has started a process in a session of its own.
func TestGuardLeavesNothing(t *testing.T) {
	t.Parallel() // it waits more than it computes
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("orphans are followed on Linux only")
	}
	run := testprogram.Build(t)
	dir := t.TempDir()
	litter, pidFile := filepath.Join(dir, "litter"), filepath.Join(dir, "pid")
	must.M(os.Mkdir(litter, 0o755))
	// The command ignores SIGTERM and leaves an orphan.
	const command = `trap "" TERM; setsid sh -c 'echo $$ >"$0"; exec sleep 300' "$0" & wait; sleep 300`
	parent := exec.Command("sh", "-c", `"$0" guard --remove "$1" -- sh -c "$2" "$3" & wait`, run, litter, command, pidFile)
	must.M(parent.Start())
	var orphan int
	eventually(t, 5*time.Second, "the command to start", func() bool {
		text, _ := os.ReadFile(pidFile)
		orphan, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return orphan != 0
	})
	parent.Process.Kill()
	parent.Wait()
	eventually(t, stopGrace+5*time.Second, "the orphan to end", func() bool { return !alive(orphan) })
	eventually(t, 5*time.Second, "the folder to be removed", func() bool {
		_, err := os.Stat(litter)
		return os.IsNotExist(err)
	})
}

func eventually(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain for %s", limit, what)
		}
	}
}
