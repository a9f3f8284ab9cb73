// Package workers starts processes that do numbered jobs: the parent writes their numbers, a line each, and hears lines
// of JSON. A worker ends, after saving, when its standard input does: when its parent says so, or is gone.
package workers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
)

// Process is a worker process, as its parent sees it. It does one job at a time.
type Process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	stop func() bool
}

// Start starts a command line with more arguments, once prepare has seen it. When ctx ends, so does its standard input.
func Start(ctx context.Context, line []string, prepare func(*exec.Cmd), args ...string) (*Process, error) {
	cmd := exec.Command(line[0], append(slices.Clone(line[1:]), args...)...)
	cmd.Stderr = os.Stderr
	prepare(cmd)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = in.Close() })
	return &Process{cmd: cmd, in: in, out: bufio.NewReader(out), stop: stop}, nil
}

// Do gives the process a job, and hands on what it says until hear is done or fails.
func Do[M any](p *Process, job int, hear func(M) (done bool, err error)) error {
	if _, err := fmt.Fprintln(p.in, job); err != nil {
		return err
	}
	for {
		line, err := p.out.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("no word from a worker: %w", err)
		}
		var m M
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("a worker said %q: %w", line, err)
		}
		if done, err := hear(m); done || err != nil {
			return err
		}
	}
}

// Close ends the process's input, and waits for its end.
func (p *Process) Close() error {
	p.stop()
	_ = p.in.Close()
	_, _ = io.Copy(io.Discard, p.out)
	return p.cmd.Wait()
}

// Jobs are the numbers that a worker is given on its standard input. At its end they end, and cancel is called.
func Jobs(in io.Reader, cancel func()) <-chan int {
	numbers := make(chan int)
	go func() {
		defer cancel()
		defer close(numbers)
		for lines := bufio.NewScanner(in); lines.Scan(); {
			if n, err := strconv.Atoi(lines.Text()); err == nil {
				numbers <- n
			}
		}
	}()
	return numbers
}
