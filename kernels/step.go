package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/hypermodels/hypermodels/kernels/internal/tail"
)

// say prints a line about the progress on standard error. Standard output is for results.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// counter computes the progress of a command from the lines that it prints.
type counter struct {
	unit  string                          // what is counted
	total int                             // 0 if not known
	add   func(done int, line string) int // returns the new number after a line
}

// each returns a function that counts lines that begin with one of the words.
func each(words ...string) func(int, string) int {
	return func(done int, line string) int {
		if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(line, w) }) {
			done++
		}
		return done
	}
}

// show returns the number as text, or "" for 0.
func (c counter) show(done int) string {
	switch {
	case done == 0:
		return ""
	case c.total > 0:
		return fmt.Sprintf("%d of %d %s, ", min(done, c.total), c.total, c.unit)
	}
	return fmt.Sprintf("%d %s, ", done, c.unit)
}

// step runs a long command quietly and shows its progress. An error includes the end of the command's output.
func step(ctx context.Context, title string, cmd *exec.Cmd, count counter) error {
	return display{os.Stderr, columns}.step(ctx, title, cmd, count)
}

// columns returns the width of the terminal on standard error, or 0 if there is none.
func columns() int {
	width, _, err := term.GetSize(int(os.Stderr.Fd()))
	if err != nil || os.Getenv("TERM") == "dumb" {
		return 0
	}
	return width
}

// display shows steps. On a terminal a step has one line, which is overwritten. In a log it has a line at the beginning
// and a line at the end.
type display struct {
	to      io.Writer
	columns func() int // returns the width of the terminal, or 0 for a log
}

// refresh is the time between two updates of a running command's line. Tests shorten it.
var refresh = 500 * time.Millisecond

func (d display) step(ctx context.Context, title string, cmd *exec.Cmd, count counter) error {
	began := time.Now()
	said := &progress{counter: count}
	if cmd.Stdout == nil {
		cmd.Stdout = said
	}
	cmd.Stderr = said
	cmd.WaitDelay = 2 * time.Second
	d.line(title, "")
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", title, err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	tick := time.NewTicker(refresh)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if d.columns() > 0 {
				d.line(title, said.text(time.Since(began)))
			}
		case err := <-done:
			if err == nil && ctx.Err() == nil {
				d.line(title, "done in "+seconds(time.Since(began)))
			}
			if d.columns() > 0 {
				fmt.Fprintln(d.to)
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				return fmt.Errorf("%s: %w\n%s", title, err, said.String())
			}
			return nil
		}
	}
}

// line shows the state of a step. On a terminal it overwrites the previous line.
func (d display) line(title, text string) {
	if text != "" {
		title += ": " + text
	}
	width := d.columns()
	if width == 0 {
		fmt.Fprintln(d.to, title)
		return
	}
	if runes := []rune(title); len(runes) >= width {
		title = string(runes[:width-1]) // A text in the last column would begin a new line.
	}
	fmt.Fprint(d.to, "\r\x1b[K"+title)
}

func seconds(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// progress reads the output of a command, and counts.
type progress struct {
	tail.Buffer
	counter
	mu   sync.Mutex
	line []byte // incomplete line
	done int
}

func (p *progress) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line = append(p.line, data...)
	for p.add != nil {
		line, rest, whole := bytes.Cut(p.line, []byte("\n"))
		if !whole {
			break
		}
		p.done = p.add(p.done, strings.TrimSpace(string(line)))
		p.line = rest
	}
	if p.add == nil {
		p.line = nil
	}
	return p.Buffer.Write(data)
}

// text returns the progress and the time. If there is nothing to count, it includes the command's latest line.
func (p *progress) text(spent time.Duration) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.show(p.done) + fmt.Sprintf("%.0f s", spent.Seconds())
	if latest := p.Line(); latest != "" && p.add == nil {
		text += ", " + latest
	}
	return text
}
