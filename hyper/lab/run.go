package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/process"
)

// Run runs a Spec and writes the results to the folder opts.Dir. The folder must not hold results of another Spec. If
// it holds results of the same Spec, Run continues where they end. known must have the Spec's experiment and agents. When ctx ends, Run saves and returns
// [ErrInterrupted]. If Run fails before the first period, it leaves no new file of results.
func Run(ctx context.Context, spec Spec, known map[string]Experiment, opts Options) (Progress, error) {
	if opts.Dir == "" {
		return Progress{}, errors.New("Options.Dir is missing: name a folder for the results")
	}
	for _, e := range spec.Entries {
		if err := e.Setting.reread(); err != nil {
			return Progress{}, err
		}
	}
	if err := spec.Validate(); err != nil {
		return Progress{}, err
	}
	if err := spec.readable(known); err != nil {
		return Progress{}, err
	}
	begun := begunWith(opts.Dir)
	if opts.BatchRuns <= 0 {
		opts.BatchRuns = begun
	}
	chosen := opts.BatchRuns <= 0
	opts = opts.Defaults(spec)
	var err error
	if opts.BatchRuns, err = fit(spec, opts, chosen, opts.BatchRuns == begun); err != nil {
		return Progress{}, err
	}
	e := &engine{plan: newPlan(spec, opts.BatchRuns), opts: opts, known: known,
		rows: rowListener{pass: opts.Rows, passed: map[int]int{}}}
	return e.run(ctx)
}

// readable returns an error if results of the Spec could not be read.
func (s Spec) readable(known map[string]Experiment) error {
	text, err := json.Marshal(s)
	if err == nil {
		_, err = ParseSpec(text, known)
	}
	if err != nil {
		return fmt.Errorf("results of this Spec could not be read: %w", err)
	}
	return nil
}

// Resume continues the Spec whose results are in opts.Dir, with the same backend and batches as before.
func Resume(ctx context.Context, known map[string]Experiment, opts Options) (Progress, error) {
	h, _, err := ReadResults(opts.Dir, known)
	if err != nil {
		return Progress{}, err
	}
	opts.Backend, opts.BatchRuns = h.Backend, h.BatchRuns
	return Run(ctx, h.Spec, known, opts)
}

// engine runs a plan: it gives batches to workers and writes the rows that they report.
type engine struct {
	plan  plan
	opts  Options
	known map[string]Experiment
	out   *writer
	rows  rowListener // passes new rows to Options.Rows

	mu      sync.Mutex
	now     Progress
	started time.Time
}

func (e *engine) run(ctx context.Context) (Progress, error) {
	s := e.plan.spec
	e.now.Entries = make([]EntryProgress, len(s.Entries))
	e.now.Workers = min(e.opts.Workers, len(e.plan.batches))
	e.now.Busy = make([]time.Duration, e.now.Workers)
	e.now.Total = int64(len(s.Entries)) * int64(s.Runs) * int64(s.Periods)
	if err := backend.Check(e.opts.Backend); err != nil {
		return Progress{}, err
	}
	if err := os.MkdirAll(e.opts.Dir, 0o755); err != nil {
		return Progress{}, err
	}
	unlock, err := Lock(filepath.Join(e.opts.Dir, LockFile), e.opts.Dir)
	if err != nil {
		return Progress{}, err
	}
	defer unlock()
	if !e.processes() { // otherwise each worker opens its own
		if _, err := backend.Open(e.opts.Backend); err != nil {
			return Progress{}, err
		}
	}
	isNew, err := e.open()
	if err != nil {
		return Progress{}, err
	}
	defer func() { _ = e.out.file.Close() }()
	if err = e.work(ctx); err == nil {
		_ = os.Remove(filepath.Join(e.opts.Dir, "checkpoints")) // the folder is empty now
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if isNew && err != nil && !errors.Is(err, ErrInterrupted) && e.now.Done == 0 {
		// The cause may be a fault of a world or an agent. Its next version may begin in this folder.
		_ = os.Remove(filepath.Join(e.opts.Dir, ResultsFile))
	}
	return e.progress(), err
}

func (e *engine) work(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan batch)
	go func() {
		defer close(queue)
		for _, b := range e.plan.batches[e.out.lead:] {
			select {
			case queue <- b:
			case <-ctx.Done():
				return
			}
		}
	}()
	shared := newRunner(e.plan, e.opts)
	failed := make(chan error, e.now.Workers) // not because ctx ended
	var workers sync.WaitGroup
	for k := range e.now.Workers {
		workers.Go(func() {
			err := e.worker(ctx, shared, queue, workerSink{e, k})
			if err != nil && !interrupted(err) {
				failed <- err
			}
			if err != nil {
				cancel(err)
			}
		})
	}
	workers.Wait()
	close(failed)
	if err := <-failed; err != nil { // the first one; with ctx, a checkpoint that was not saved
		return err
	}
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	return nil
}

// interrupted reports whether an error only says that a context ended.
func interrupted(err error) bool {
	return errors.Is(err, ErrInterrupted) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

func (e *engine) worker(ctx context.Context, shared *runner, queue <-chan batch, out workerSink) error {
	if e.processes() {
		return e.remote(ctx, queue, out)
	}
	for b := range queue {
		if err := shared.advance(ctx, b, out); err != nil {
			return err
		}
	}
	return nil
}

// LockFile is the name of the file in an output folder that locks it while a process writes.
const LockFile = ".lock"

// Lock keeps other processes from writing results, which are named in its error, until unlock is called or this process
// ends. The file is only for the lock.
func Lock(file, results string) (unlock func(), err error) {
	unlock, err = process.Lock(file)
	if errors.Is(err, process.ErrLocked) {
		err = fmt.Errorf("%w writes results to %s: wait until it ends, or choose another --out", err, results)
	}
	return unlock, err
}
