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
	"github.com/hypermodels/hypermodels/hyper/internal/process"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// Run runs a Spec and writes the results to the folder opts.Dir. The folder must not hold results of another Spec. If
// it holds results of the same Spec, Run continues where they end. When ctx ends, Run saves and returns
// [ErrInterrupted].
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
	heard listener // passes new rows to Options.Rows

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
	if !e.processes() { // otherwise each worker opens its own
		if _, err := backend.Open(e.opts.Backend); err != nil {
			return Progress{}, err
		}
	}
	if err := e.open(); err != nil {
		return Progress{}, err
	}
	defer func() { _ = e.out.file.Close() }()
	if err = e.work(ctx); err == nil {
		_ = os.Remove(filepath.Join(e.opts.Dir, "checkpoints")) // the folder is empty now
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.progress(), err
}

// open creates the result file, or continues an existing one.
func (e *engine) open() error {
	header := Header{Format: Format, Spec: e.plan.spec, Version: hyper.Version,
		Provenance: ThisProvenance(e.opts.Backend), Backend: e.opts.Backend,
		BatchRuns: e.opts.BatchRuns, Machine: process.ThisMachine()}
	path := filepath.Join(e.opts.Dir, ResultsFile)
	e.out = &writer{rows: map[int][]Row{}, done: map[int]bool{}}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		line, err := json.Marshal(header)
		if err != nil {
			return err
		}
		if err := saved.WriteFile(path, append(line, '\n')); err != nil {
			return fmt.Errorf("starting results: %w", err)
		}
	} else if err := e.continueFile(path, header); err != nil {
		return err
	}
	var err error
	e.out.file, err = os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o644)
	return err
}

// continueFile checks that an existing file holds results of this Spec and code. It removes an incomplete last line,
// and finds the batch and row at which to continue.
func (e *engine) continueFile(path string, want Header) error {
	found, err := parseFile(path, e.known)
	if err != nil {
		return err
	}
	h, rows := found.header, found.rows
	if !h.Spec.Equal(want.Spec) || h.Backend != want.Backend || h.BatchRuns != want.BatchRuns {
		return fmt.Errorf("%s holds %w; choose another --out, or continue them with `hyper resume %[1]s`", e.opts.Dir,
			ErrOtherResults)
	}
	if err := e.mayContinue(path, h, want); err != nil {
		return err
	}
	if err := prepareFile(path, found, want.Provenance); err != nil {
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
		return fmt.Errorf("%s: %w: the file has more rows than the Spec", path, ErrResults)
	}
	return nil
}

// ErrOtherResults reports that a folder holds results of another Spec, backend or batch size.
var ErrOtherResults = errors.New("results of another Spec, backend or batch size")

// mayContinue returns nil if the existing rows are the rows that this code would have made, or if the options allow the
// results of different code to mix.
func (e *engine) mayContinue(path string, before, now Header) error {
	why := error(nil)
	if before.Version != now.Version {
		why = fmt.Errorf("%w: version %s, and version %s", ErrMixed, before.Version, now.Version)
	}
	for _, code := range append([]Provenance{before.Provenance}, before.Also...) {
		if why == nil {
			why = code.Continues(now.Provenance, before.Spec.Experiment, before.Spec.Entries)
		}
	}
	if why == nil {
		return nil
	}
	why = fmt.Errorf("other code began %s: %w", path, why)
	if e.opts.Mix == nil {
		return fmt.Errorf("%w; choose another folder, or continue with the code that began the results", why)
	}
	e.opts.Mix(why)
	return nil
}

// prepareFile prepares a result file for more rows: it removes an incomplete last line, and adds this code to the
// header.
func prepareFile(path string, found parsed, code Provenance) error {
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
	return saved.WriteFile(path, slices.Concat(line, []byte{'\n'}, text[found.first:found.whole]))
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

// lock keeps other processes from writing to a folder of results until unlock is called or this process ends.
func lock(dir string) (unlock func(), err error) {
	l := flock.New(filepath.Join(dir, ".lock")) // the file stays: if processes removed it, two of them could hold locks
	alone, err := l.TryLock()
	if err == nil && !alone {
		err = fmt.Errorf("another process writes results to %s: wait until it ends, or choose another --out", dir)
	}
	return func() { _ = l.Unlock() }, err
}
