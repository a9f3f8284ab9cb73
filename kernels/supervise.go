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
	remove         string // a folder to remove when the command and all its processes have ended, or ""
	stdout, stderr io.Writer
}

// supervise runs a command under a guard (see guard.go) and returns its exit status. If ctx ends, or the process for
// which this one works, the command is asked to stop and the error is context.Canceled. Even if this process or the
// guard is killed, no process of the command remains.
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
	cmd.SysProcAttr = ownSession() // A Ctrl-C in the terminal only reaches this process.
	cmd.WaitDelay = time.Second
	becomeReaper() // In case the guard is killed.
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ctx, cancel := withMaster(ctx, false)
	defer cancel()
	context.AfterFunc(ctx, func() { cmd.Process.Signal(syscall.SIGTERM) })
	err = cmd.Wait()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() < 0 {
		sweep(false) // Other guards of this process must continue.
		removeAll(c.remove)
	}
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
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

// masterPoll is the time between two checks whether the process for which this one works is alive.
const masterPoll = 300 * time.Millisecond

// withMaster returns a context that also ends when the process for which this one works has ended: Jupyter for a
// kernel, `go run` or `go tool` for a command, and any parent if guarded is true. Otherwise it ignores other parents,
// such as a shell.
func withMaster(ctx context.Context, guarded bool) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	parent, jupyter := os.Getppid(), jupyterPid()
	if guarded || jupyter != 0 || isGo(parent) {
		go func() {
			for ctx.Err() == nil && os.Getppid() == parent && (jupyter == 0 || alive(jupyter)) {
				time.Sleep(masterPoll)
			}
			cancel()
		}()
	}
	return ctx, cancel
}

// isGo reports whether a process is `go run` or `go tool`, which has started this process.
func isGo(pid int) bool {
	argv := processArgs(pid)
	return len(argv) > 1 && filepath.Base(argv[0]) == "go" && (argv[1] == "run" || argv[1] == "tool")
}
