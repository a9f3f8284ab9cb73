package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/hypermodels/hypermodels/kernels/internal/tail"
)

// say prints a line about what is going on. Standard output is kept for results.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// step runs a long command quietly: one line before it, one every ten seconds with the command's latest line, and on
// failure the end of what it printed.
func step(ctx context.Context, title string, cmd *exec.Cmd) error {
	say("%s", title)
	began := time.Now()
	var out tail.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 2 * time.Second
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", title, err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			say("  %3.0f s: %s", time.Since(began).Seconds(), out.Line())
		case err := <-done:
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				return fmt.Errorf("%s: %w\n%s", title, err, out.String())
			}
			return nil
		}
	}
}
