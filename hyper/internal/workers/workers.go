// Package workers starts processes that do numbered jobs. The parent writes the numbers of the jobs, one on each line,
// and reads lines of JSON. A worker saves and ends when its standard input ends: when the parent closes it or dies.
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

// Process is a worker process from the parent's point of view. It does one job at a time.
type Process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	stop func() bool
}

// Start starts the command line, with args appended, after prepare has changed the command. When ctx ends, Start closes
// the standard input of the process.
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

// Do gives the process a job, and passes its messages to hear until hear returns done or an error.
func Do[M any](p *Process, job int, hear func(M) (done bool, err error)) error {
	if _, err := fmt.Fprintln(p.in, job); err != nil {
		return err
	}
	for {
		line, err := p.out.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("a worker ended without a message: %w", err)
		}
		var m M
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("a worker sent the message %q: %w", line, err)
		}
		if done, err := hear(m); done || err != nil {
			return err
		}
	}
}

// Close closes the standard input of the process, and waits until the process ends.
func (p *Process) Close() error {
	p.stop()
	_ = p.in.Close()
	_, _ = io.Copy(io.Discard, p.out)
	return p.cmd.Wait()
}

// Jobs returns the numbers that a worker reads from its standard input. When the input ends, the channel is closed and
// cancel is called.
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
