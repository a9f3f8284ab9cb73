package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// message is a line of JSON that a worker process writes to its parent. Rows travel in checkpoint files.
type message struct {
	Compiled time.Duration `json:"compiled,omitempty"` // the batch's program
	Computed int           `json:"computed,omitempty"` // run-periods of the batch
	Busy     time.Duration `json:"busy,omitempty"`
	Saved    *int          `json:"saved,omitempty"` // a batch whose checkpoint was written
	Finished *int          `json:"finished,omitempty"`
	Error    string        `json:"error,omitempty"`
}

// processes tells whether workers are processes of their own.
func (e *engine) processes() bool {
	return len(e.opts.Process) > 0 && e.opts.Backend == backend.XLACPU && e.opts.Workers > 1
}

// remote hands batches to a worker process, one at a time, and passes on what it reports.
func (e *engine) remote(ctx context.Context, queue <-chan batch, out workerSink) error {
	b, ok := <-queue
	if !ok {
		return nil
	}
	cmd, in, said, err := e.command(out.worker)
	if err != nil {
		return err
	}
	runtime.LockOSThread() // the worker is killed when the thread that started it ends, see detach
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting a worker: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = in.Close() }) // the worker saves, and ends
	defer stop()
	lines := bufio.NewReader(said)
	for ok && err == nil {
		if _, err = fmt.Fprintln(in, b.number); err == nil {
			err = e.listen(lines, b, out)
		}
		if err == nil {
			b, ok = <-queue
		}
	}
	_ = in.Close()
	_, _ = io.Copy(io.Discard, lines)
	wait := cmd.Wait()
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	if wait != nil {
		return fmt.Errorf("a worker ended early: %w", errors.Join(wait, err))
	}
	return err
}

// command is the k-th worker process, not started yet, with its standard input and output.
func (e *engine) command(k int) (cmd *exec.Cmd, in io.WriteCloser, out io.Reader, err error) {
	share := fmt.Sprintf("%d/%d", k, e.now.Workers)
	args := append(slices.Clone(e.opts.Process[1:]), e.opts.Dir, share, strconv.Itoa(e.opts.Chunk),
		e.opts.Every.String())
	cmd = exec.Command(e.opts.Process[0], args...)
	cmd.Stderr = os.Stderr
	detach(cmd)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	return cmd, in, out, errors.Join(err1, err2)
}

func (e *engine) listen(lines *bufio.Reader, b batch, out workerSink) error {
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("no word from a worker: %w", err)
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("a worker said %q: %w", line, err)
		}
		switch {
		case m.Error != "":
			return errors.New(m.Error)
		case m.Compiled > 0:
			err = out.compiled(b.shape, m.Compiled)
		case m.Saved != nil, m.Finished != nil:
			var c checkpoint
			if c, err = loadCheckpoint(e.opts.Dir, e.plan, b, nil); err == nil {
				err = out.saved(b.number, c.Rows, m.Finished != nil)
			}
		default:
			err = out.computed(b.number, m.Computed, m.Busy)
		}
		if err != nil || m.Finished != nil {
			return err
		}
	}
}

// Worker is the main function of a worker process: it advances the batches whose numbers it reads, a line each, and
// reports on out. args are those that Options.Process was called with: folder, share of the cores, chunk and interval.
// It ends, after saving, when in does.
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
	if err := OpenShare(h.Backend, args[1]); err != nil {
		return err
	}
	o := Options{Dir: args[0], Backend: h.Backend, BatchRuns: h.BatchRuns, Chunk: chunk, Every: every}
	r := newRunner(newPlan(h.Spec, h.BatchRuns), o)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	numbers := make(chan int)
	go func() {
		defer cancel() // the parent is done, or gone
		defer close(numbers)
		for lines := bufio.NewScanner(in); lines.Scan(); {
			if n, err := strconv.Atoi(lines.Text()); err == nil && n >= 0 && n < len(r.plan.batches) {
				numbers <- n
			}
		}
	}()
	for n := range numbers {
		if err := r.advance(ctx, r.plan.batches[n], w); err != nil {
			return err
		}
	}
	return nil
}

// OpenShare opens a backend with the k-th of n shares of the cores, for a share "k/n". It does so once in a process.
func OpenShare(name, share string) error {
	first, second, _ := strings.Cut(share, "/")
	k, err1 := strconv.Atoi(first)
	n, err2 := strconv.Atoi(second)
	if err1 != nil || err2 != nil || k < 0 || n < 1 {
		return fmt.Errorf("%q is not a share k/n of the cores", share)
	}
	var err error
	onShare(k, n, func() { _, err = backend.Open(name) })
	return err
}

// reporter is the sink of a worker process, which advances one batch at a time.
type reporter struct {
	out  *json.Encoder
	now  message // progress not reported yet
	last time.Time
}

func (w *reporter) compiled(_ int, d time.Duration) error { return w.out.Encode(message{Compiled: d}) }

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

func (w *reporter) saved(batch int, _ []Row, done bool) error {
	if err := w.flush(); err != nil {
		return err
	}
	if done {
		return w.out.Encode(message{Finished: &batch})
	}
	return w.out.Encode(message{Saved: &batch})
}

// recorded does nothing: rows travel with what is saved.
func (w *reporter) recorded(int, []Row) {}
