package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// child is a command that may start processes of its own.
type child struct {
	argv           []string
	env            []string
	dir            string
	remove         string // a folder to remove when the command and all that it started has ended, or ""
	stdout, stderr io.Writer
}

// supervise runs a command under a guard (see guard.go) and returns its exit status. When ctx ends, or the process that
// this one works for does, the command is asked to stop and the error is context.Canceled. However this process or the
// guard ends, even killed, nothing that the command started is left running.
func supervise(ctx context.Context, c child) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	args := []string{guardVerb}
	if c.remove != "" {
		args = append(args, "--remove", c.remove)
	}
	cmd := exec.Command(self, append(append(args, "--"), c.argv...)...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.env, c.dir, c.stdout, c.stderr
	cmd.SysProcAttr = ownSession() // A Ctrl-C in the terminal comes to this process alone, which stops things in order.
	cmd.WaitDelay = time.Second
	becomeReaper() // For the case that the guard itself is killed.
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go watchMaster(ctx, cancel)
	context.AfterFunc(ctx, func() { cmd.Process.Signal(syscall.SIGTERM) })
	err = cmd.Wait()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() < 0 {
		sweep(false) // Other guards of this process have work to do.
		removeAll(c.remove)
	}
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return cmd.ProcessState.ExitCode(), err
}

// removeAll removes a folder, unless its name is "".
func removeAll(dir string) {
	if dir != "" {
		os.RemoveAll(dir)
	}
}

// masterPoll is how often a process looks whether the one it works for still lives.
const masterPoll = 300 * time.Millisecond

// watchMaster calls cancel when the process that this one works for has ended: Jupyter for a kernel, `go run` or `go
// tool` for a command. A parent that is neither, such as a shell, may end as it likes.
func watchMaster(ctx context.Context, cancel func()) {
	parent := os.Getppid()
	jupyter := jupyterPid()
	bound := jupyter != 0 || isGo(parent)
	tick := time.NewTicker(masterPoll)
	defer tick.Stop()
	for bound {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if os.Getppid() != parent || (jupyter != 0 && !alive(jupyter)) {
				cancel()
				return
			}
		}
	}
}

// withParent is a context that also ends with the parent of this process.
func withParent(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	parent := os.Getppid()
	go func() {
		for ctx.Err() == nil && os.Getppid() == parent {
			time.Sleep(masterPoll)
		}
		cancel()
	}()
	return ctx
}

// isGo tells whether a process is the go command, that is, whether this process was started by `go run` or `go tool`.
func isGo(pid int) bool {
	argv := processArgs(pid)
	return len(argv) > 1 && filepath.Base(argv[0]) == "go" && (argv[1] == "run" || argv[1] == "tool")
}
