package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
)

// Run runs a Spec and writes its results into opts.Dir, which must not hold other results: with those of the same Spec
// it goes on where they end. It returns [ErrInterrupted] after saving when ctx ends.
func Run(ctx context.Context, spec Spec, known map[string]Experiment, opts Options) (Progress, error) {
	if err := spec.Validate(); err != nil {
		return Progress{}, err
	}
	chosen := opts.BatchRuns <= 0
	opts = opts.Defaults(spec)
	var err error
	if opts.BatchRuns, err = fit(spec, opts, chosen); err != nil {
		return Progress{}, err
	}
	e := &engine{plan: newPlan(spec, opts.BatchRuns), opts: opts, known: known,
		heard: listener{tell: opts.Rows, told: map[int]int{}}}
	return e.run(ctx)
}

// Resume goes on with the Spec whose results lie in opts.Dir, with the backend and batches they were begun with.
func Resume(ctx context.Context, known map[string]Experiment, opts Options) (Progress, error) {
	h, _, err := ReadResults(opts.Dir, known)
	if err != nil {
		return Progress{}, err
	}
	opts.Backend, opts.BatchRuns = h.Backend, h.BatchRuns
	return Run(ctx, h.Spec, known, opts)
}

// engine runs a plan: it hands batches to workers, and writes the rows they report.
type engine struct {
	plan  plan
	opts  Options
	known map[string]Experiment
	out   *writer
	heard listener

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
	unlock, err := lock(e.opts.Dir)
	if err != nil {
		return Progress{}, err
	}
	defer unlock()
	if !e.processes() { // else each worker opens its own
		if _, err := backend.Open(e.opts.Backend); err != nil {
			return Progress{}, err
		}
	}
	if err := e.open(); err != nil {
		return Progress{}, err
	}
	defer func() { _ = e.out.file.Close() }()
	if err = e.work(ctx); err == nil {
		_ = os.Remove(filepath.Join(e.opts.Dir, "checkpoints")) // empty by now
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.progress(), err
}

// open makes the result file, or takes up the one that is there.
func (e *engine) open() error {
	header := Header{Format: Format, Spec: e.plan.spec, Version: hyper.Version,
		Provenance: ThisProvenance(e.opts.Backend), Backend: e.opts.Backend,
		BatchRuns: e.opts.BatchRuns, Machine: ThisMachine()}
	path := filepath.Join(e.opts.Dir, ResultsFile)
	e.out = &writer{rows: map[int][]Row{}, done: map[int]bool{}}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		line, err := json.Marshal(header)
		if err != nil {
			return err
		}
		if err := WriteFile(path, append(line, '\n')); err != nil {
			return fmt.Errorf("starting results: %w", err)
		}
	} else if err := e.takeUp(path, header); err != nil {
		return err
	}
	var err error
	e.out.file, err = os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o644)
	return err
}

// takeUp checks that the results there are of this Spec and code, cuts off a half-written line, and finds where to go
// on.
func (e *engine) takeUp(path string, want Header) error {
	found, err := parseFile(path, e.known)
	if err != nil {
		return err
	}
	h, rows := found.header, found.rows
	if !h.Spec.Equal(want.Spec) || h.Backend != want.Backend || h.BatchRuns != want.BatchRuns {
		return &otherResults{e.opts.Dir}
	}
	if err := e.mayContinue(path, h, want); err != nil {
		return err
	}
	if err := goOn(path, found, want.Provenance); err != nil {
		return err
	}
	left := len(rows)
	for _, b := range e.plan.batches {
		own := min(left, e.plan.rows(b))
		e.heard.rows(b.number, rows[len(rows)-left:][:own])
		if left < e.plan.rows(b) {
			break
		}
		left -= e.plan.rows(b)
		e.out.lead++
		e.now.Done += int64(len(b.lanes)) * int64(e.plan.spec.Periods)
	}
	if e.out.written = left; left > 0 && e.out.lead == len(e.plan.batches) {
		return fmt.Errorf("%s: %w: more rows than the Spec has", path, ErrResults)
	}
	return nil
}

// otherResults is the error about a folder with results that are to be gone on with, but not by this Spec.
type otherResults struct{ dir string }

func (e *otherResults) Error() string {
	return fmt.Sprintf("%s holds results of another Spec, backend or batch size; choose another --out, or "+
		"`hyper resume %[1]s` goes on with them", e.dir)
}

// mayContinue returns an error unless the rows there are those that this code would have made, or may mix with its own.
func (e *engine) mayContinue(path string, there, here Header) error {
	why := error(nil)
	if there.Version != here.Version {
		why = fmt.Errorf("%w: version %s, and version %s", ErrMixed, there.Version, here.Version)
	}
	for _, code := range append([]Provenance{there.Provenance}, there.Also...) {
		if why == nil {
			why = code.Continues(here.Provenance, there.Spec.Experiment, there.Spec.Entries)
		}
	}
	if why == nil {
		return nil
	}
	why = fmt.Errorf("%s was begun by other code: %w", path, why)
	if e.opts.Mix == nil {
		return fmt.Errorf("%w; choose another folder, or go on with the code that began it", why)
	}
	e.opts.Mix(why)
	return nil
}

// goOn prepares a result file for more rows: it cuts off a half-written line, and adds this code to the header.
func goOn(path string, found parsed, code Provenance) error {
	h := found.header
	h.MadeBy(code)
	if len(h.Also) == len(found.header.Also) {
		return os.Truncate(path, found.whole)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	line, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return WriteFile(path, slices.Concat(line, []byte{'\n'}, text[found.first:found.whole]))
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
	var workers sync.WaitGroup
	for k := range e.now.Workers {
		workers.Go(func() {
			err := e.worker(ctx, shared, queue, workerSink{e, k})
			if err != nil {
				cancel(err)
			}
		})
	}
	workers.Wait()
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return nil
	case errors.Is(cause, context.Canceled), errors.Is(cause, context.DeadlineExceeded):
		return ErrInterrupted
	default:
		return cause
	}
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

// lock keeps other processes from writing to a folder of results, until unlock or the end of this process.
func lock(dir string) (unlock func(), err error) {
	l := flock.New(filepath.Join(dir, ".lock")) // stays there: two that lock and remove one file may hold two
	alone, err := l.TryLock()
	if err == nil && !alone {
		err = fmt.Errorf("another process is running in %s: wait for it, or choose another --out", dir)
	}
	return func() { _ = l.Unlock() }, err
}
