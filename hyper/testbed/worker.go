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
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// message is what a worker process says of a job, in a line of JSON.
type message struct {
	Results []Result `json:"results,omitempty"`
	Error   string   `json:"error,omitempty"`
}

// tryByProcesses is Try by worker processes, each with its share of the cores and one job at a time.
func tryByProcesses(ctx context.Context, o Options, jobs [][]Problem, done func([]Result) error) error {
	queue := make(chan int, len(jobs))
	for i := range slices.Backward(jobs) { // later ones are larger, by and large
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

// Worker is what a process of [Options.Process] does: it tries the agent on the jobs whose numbers it reads from in, a
// line each, with its share of the cores, and writes results on out. Agent, sweep and options must be those of the Try
// that started it. It ends when in does.
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
	if err := lab.OpenShare(o.Backend, share); err != nil {
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
			return fmt.Errorf("there is no job %d: they are 0 to %d", n, len(jobs)-1)
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
