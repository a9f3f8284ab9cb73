package testbed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/hypermodels/hypermodels/hyper/internal/workers"
)

// message is a worker process's answer to a job, as a line of JSON.
type message struct {
	Results []Result `json:"results,omitempty"`
	Error   string   `json:"error,omitempty"`
}

// tryByProcesses does the jobs of Try in worker processes. Each process has its share of the cores, and one job at a
// time.
func tryByProcesses(ctx context.Context, o Options, jobs [][]Problem, done func([]Result) error) error {
	queue := make(chan int, len(jobs))
	for i := range slices.Backward(jobs) { // later jobs are larger, in general
		queue <- i
	}
	close(queue)
	var lock sync.Mutex
	hear := func(m message) (bool, error) {
		if m.Error != "" {
			return true, errors.New(m.Error)
		}
		lock.Lock()
		defer lock.Unlock()
		return true, done(m.Results)
	}
	n := min(o.Workers, len(jobs))
	group, all := errgroup.WithContext(ctx)
	for k := range n {
		group.Go(func() error {
			runtime.LockOSThread() // the worker is killed when the thread that started it ends
			defer runtime.UnlockOSThread()
			w, err := workers.Start(all, o.Process, workers.Detach, fmt.Sprintf("%d/%d", k, n))
			if err != nil {
				return err
			}
			for job := range queue {
				if err = errors.Join(all.Err(), workers.Do(w, job, hear)); err != nil {
					break
				}
			}
			return errors.Join(err, w.Close())
		})
	}
	if err := group.Wait(); ctx.Err() == nil {
		return err
	}
	return ctx.Err()
}

// Worker does the work of a process of [Options.Process]. It reads the numbers of jobs from in, one on each line, tries
// the agent on them with its share of the cores, and writes the results to out. Agent, sweep and options must be equal
// to the arguments of the Try that started the process. Worker returns when in ends.
func Worker(ctx context.Context, in io.Reader, out io.Writer, a Agent, s Sweep, o Options, share string) error {
	lines := json.NewEncoder(out)
	err := work(ctx, in, lines, a, s, o, share)
	if err != nil && !errors.Is(err, context.Canceled) {
		_ = lines.Encode(message{Error: err.Error()})
	}
	return err
}

func work(ctx context.Context, in io.Reader, out *json.Encoder, a Agent, s Sweep, o Options, share string) error {
	o, jobs, err := prepare(a, s, o)
	if err != nil {
		return err
	}
	if err := workers.OpenShare(o.Backend, share); err != nil {
		return err
	}
	t, err := newTrier(a, s, o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for n := range workers.Jobs(in, cancel) {
		if n < 0 || n >= len(jobs) {
			return fmt.Errorf("there is no job %d: the jobs are 0 to %d", n, len(jobs)-1)
		}
		results, err := t.try(ctx, jobs[n])
		if err == nil {
			err = out.Encode(message{Results: results})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
