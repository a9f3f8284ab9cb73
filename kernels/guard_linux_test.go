package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/kernels/internal/testprogram"
)

// helperVar makes the test program one of two helpers of TestGuardFollowsDyingThreads.
const helperVar = "HYPERMODELS_TEST_HELPER"

func init() {
	switch os.Getenv(helperVar) {
	case "first": // Starts the second helper, which dies with it; the test kills it.
		runtime.LockOSThread()
		cmd := exec.Command(os.Args[0], os.Args[1:]...)
		cmd.Env = append(os.Environ(), helperVar+"=second")
		cmd.Stdout = os.Stdout
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		fmt.Println(cmd.Start())
		time.Sleep(time.Hour)
	case "second": // Has many threads, like a busy Go program, and a child.
		for range 100 {
			go func() {
				runtime.LockOSThread()
				time.Sleep(time.Hour)
			}()
		}
		cmd := exec.Command("sleep", "300")
		fmt.Println(cmd.Start())
		file := os.Args[len(os.Args)-1]
		os.WriteFile(file+"~", []byte(strconv.Itoa(cmd.Process.Pid)+" "+strconv.Itoa(os.Getppid())), 0o644)
		os.Rename(file+"~", file)
		time.Sleep(time.Hour)
	}
}

// TestGuardFollowsDyingThreads kills a command whose child has many threads and dies with the command. While the
// threads end one by one, the child is a zombie that still has a child of its own.
func TestGuardFollowsDyingThreads(t *testing.T) {
	run, dir := testprogram.Build(t), t.TempDir()
	for i := range 20 {
		file := filepath.Join(dir, strconv.Itoa(i))
		cmd := exec.Command(run, guardVerb, "--", os.Args[0], file)
		cmd.Env = append(os.Environ(), helperVar+"=first")
		must.M(cmd.Start())
		var pids []string
		eventually(t, 10*time.Second, "the command to start", func() bool {
			text, _ := os.ReadFile(file)
			pids = strings.Fields(string(text))
			return len(pids) == 2
		})
		grandchild, _ := strconv.Atoi(pids[0])
		first, _ := strconv.Atoi(pids[1])
		time.Sleep(20 * time.Millisecond) // Lets the threads start.
		kill(first)
		cmd.Wait()
		// The system's first process may take a moment to collect a dead grandchild.
		for began := time.Now(); alive(grandchild); time.Sleep(10 * time.Millisecond) {
			if time.Since(began) > 5*time.Second {
				kill(grandchild)
				t.Fatalf("round %d: the guard ended and left a grandchild", i)
			}
		}
	}
}
