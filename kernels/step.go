package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// say prints a line about what is going on. Standard output is kept for results.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// step runs a long command quietly: one line before it, one every ten seconds with the command's latest line, and on
// failure the end of what it printed.
func step(ctx context.Context, title string, cmd *exec.Cmd) error {
	say("%s", title)
	began := time.Now()
	var out tail
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
			say("  %3.0f s: %s", time.Since(began).Seconds(), out.last())
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

// tail keeps the last few kilobytes written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if extra := len(t.buf) - tailSize; extra > 0 {
		t.buf = bytes.Clone(t.buf[extra:])
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.buf))
}

// last is the latest line, short enough for a terminal.
func (t *tail) last() string {
	lines := strings.Split(t.String(), "\n")
	line := strings.TrimSpace(lines[len(lines)-1])
	if runes := []rune(line); len(runes) > 90 {
		return string(runes[:90]) + "..."
	}
	return line
}
