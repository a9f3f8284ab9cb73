package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"time"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/workers"
)

// message is a line of JSON that a worker process writes to its parent. Rows are not in messages but in checkpoint
// files.
type message struct {
	Compiled time.Duration `json:"compiled,omitempty"` // time to compile the batch's program
	Resumed  int           `json:"resumed,omitempty"`  // run-periods of the batch that an earlier attempt computed
	Computed int           `json:"computed,omitempty"` // run-periods of the batch since the last message
	Busy     time.Duration `json:"busy,omitempty"`
	Saved    bool          `json:"saved,omitempty"`    // whether the batch's checkpoint was written
	Finished bool          `json:"finished,omitempty"` // whether the final one was written
	Error    string        `json:"error,omitempty"`
}

// processes reports whether workers are separate processes.
func (e *engine) processes() bool {
	return len(e.opts.Process) > 0 && e.opts.Backend == backend.XLACPU && e.opts.Workers > 1
}

// remote gives batches to a worker process, one at a time, and passes on what it reports.
func (e *engine) remote(ctx context.Context, queue <-chan batch, out workerSink) error {
	b, ok := <-queue
	if !ok {
		return nil
	}
	runtime.LockOSThread() // the system kills the worker when the thread that started it ends, see workers.Detach
	defer runtime.UnlockOSThread()
	share := fmt.Sprintf("%d/%d", out.worker, e.now.Workers)
	w, err := workers.Start(ctx, e.opts.Process, workers.Detach, e.opts.Dir, share, strconv.Itoa(e.opts.Chunk),
		e.opts.Every.String())
	if err != nil {
		return err
	}
	for ok && err == nil {
		err = workers.Do(w, b.number, func(m message) (bool, error) { return m.Finished, e.handle(m, b, out) })
		if err == nil {
			b, ok = <-queue
		}
	}
	wait := w.Close()
	var said reported
	if ctx.Err() != nil && !errors.As(err, &said) {
		return ErrInterrupted
	}
	if wait != nil {
		return fmt.Errorf("%w: %w", ErrWorker, errors.Join(wait, err))
	}
	return err
}

// ErrWorker is wrapped by the error of Run if a worker process ended early, for example because the memory was full.
var ErrWorker = errors.New("a worker process ended early")

// reported is an error that a worker process reported.
type reported string

func (r reported) Error() string { return string(r) }

// handle passes on a message about a batch.
func (e *engine) handle(m message, b batch, out workerSink) error {
	switch {
	case m.Error != "":
		return reported(m.Error)
	case m.Compiled > 0:
		return out.compiled(b.shape, m.Compiled)
	case m.Resumed > 0:
		return out.resumed(b.number, m.Resumed)
	case m.Saved, m.Finished:
		c, err := loadCheckpoint(e.opts.Dir, e.plan, b, nil)
		if err != nil {
			return err
		}
		return out.saved(b.number, c.Rows, m.Finished)
	}
	return out.computed(b.number, m.Computed, m.Busy)
}

// Worker is the main function of a worker process. It reads numbers of batches, one on each line, advances these
// batches and reports on out. args are the arguments that Run appends to Options.Process: folder, share of the cores,
// chunk and interval. When in ends, Worker saves and returns.
func Worker(ctx context.Context, in io.Reader, out io.Writer, known map[string]Experiment, args []string) error {
	w := &reporter{out: json.NewEncoder(out)}
	err := work(ctx, in, w, known, args)
	if err != nil && !errors.Is(err, ErrInterrupted) {
		_ = w.out.Encode(message{Error: err.Error()})
	}
	return err
}

func work(ctx context.Context, in io.Reader, w *reporter, known map[string]Experiment, args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("a worker takes 4 arguments, got %d", len(args))
	}
	chunk, err1 := strconv.Atoi(args[2])
	every, err2 := time.ParseDuration(args[3])
	h, _, err3 := ReadResults(args[0], known)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if err := workers.OpenShare(h.Backend, args[1]); err != nil {
		return err
	}
	o := Options{Dir: args[0], Backend: h.Backend, BatchRuns: h.BatchRuns, Chunk: chunk, Every: every}
	r := newRunner(newPlan(h.Spec, h.BatchRuns), o)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for n := range workers.Jobs(in, cancel) {
		if n < 0 || n >= len(r.plan.batches) {
			return fmt.Errorf("there is no batch %d: batches are numbered from 0 to %d", n, len(r.plan.batches)-1)
		}
		if err := r.advance(ctx, r.plan.batches[n], w); err != nil {
			return err
		}
	}
	return nil
}

// reporter is the sink of a worker process, which advances one batch at a time.
type reporter struct {
	out  *json.Encoder
	now  message // progress that is not yet reported
	last time.Time
}

func (w *reporter) compiled(_ int, d time.Duration) error { return w.out.Encode(message{Compiled: d}) }

func (w *reporter) resumed(_, n int) error { return w.out.Encode(message{Resumed: n}) }

func (w *reporter) computed(_, n int, busy time.Duration) error {
	w.now.Computed += n
	w.now.Busy += busy
	if time.Since(w.last) < 100*time.Millisecond {
		return nil
	}
	return w.flush()
}

func (w *reporter) flush() error {
	now := w.now
	w.now, w.last = message{}, time.Now()
	return w.out.Encode(now)
}

func (w *reporter) saved(_ int, _ []Row, done bool) error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.out.Encode(message{Saved: !done, Finished: done})
}

// recorded does nothing, because rows are in the checkpoints that saved reports.
func (w *reporter) recorded(int, []Row) {}
