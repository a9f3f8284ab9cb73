package sweep

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
	"sync"
	"time"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Local does the shards of a sweep by processes of this machine.
type Local struct {
	Command  []string // a command line that calls Serve with the folder and share that it is given as last arguments
	Workers  int
	Retries  int // times that a shard is given to another worker after its own was killed
	Progress func(lab.Progress)
}

// ErrShards says that some shards of a sweep could not be done.
var ErrShards = errors.New("shards failed")

// Run does all shards that are not done. A shard that fails does not stop the others; the error then wraps ErrShards.
// When ctx ends, workers save and the error is lab.ErrInterrupted: called again, Run goes on.
func (l Local) Run(ctx context.Context, p Plan, dir string) error {
	if err := p.mayRun(); err != nil {
		return err
	}
	states, err := p.States(dir)
	if err != nil {
		return err
	}
	d := dispatcher{Local: l, dir: dir, begin: time.Now(), done: map[int]int64{}, computed: map[int]int64{},
		deaths: map[int]int{}, failures: map[int]string{}}
	for _, s := range states {
		d.total += s.Total
		d.done[s.Shard] = s.Done
		if s.State != Done {
			d.queue = append(d.queue, s.Shard)
		}
	}
	count := min(l.Workers, len(d.queue))
	var workers sync.WaitGroup
	broken := make([]error, count)
	for k := range count {
		workers.Go(func() { broken[k] = d.worker(ctx, fmt.Sprintf("%d/%d", k, count)) })
	}
	workers.Wait()
	if ctx.Err() != nil {
		return lab.ErrInterrupted
	}
	if err := errors.Join(broken...); err != nil {
		return err
	}
	return d.failed()
}

type dispatcher struct {
	Local
	dir   string
	begin time.Time

	mu             sync.Mutex
	queue          []int
	total          int64
	done, computed map[int]int64 // run-periods of each shard; computed are those of this call
	deaths         map[int]int   // of workers that had the shard
	failures       map[int]string
}

func (d *dispatcher) failed() error {
	if len(d.failures) == 0 {
		return nil
	}
	var text string
	var numbers []int
	for n, why := range d.failures {
		numbers = append(numbers, n)
		text = why
	}
	slices.Sort(numbers)
	return fmt.Errorf("%w: %s of %s (%s); `hyper sweep %s` tries them again", ErrShards,
		Ranges(numbers), d.dir, text, d.dir)
}

func (d *dispatcher) next(ctx context.Context) (n int, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.queue) == 0 || ctx.Err() != nil {
		return 0, false
	}
	n, d.queue = d.queue[0], d.queue[1:]
	return n, true
}

// worker does shards by a process, and by another when that one dies.
func (d *dispatcher) worker(ctx context.Context, share string) error {
	n, ok := d.next(ctx)
	for ok {
		w, err := d.start(ctx, share)
		if err != nil {
			return fmt.Errorf("starting a worker: %w", err)
		}
		for ok {
			if err = d.give(w, n); err != nil {
				break
			}
			n, ok = d.next(ctx)
		}
		died := w.close()
		if err != nil && ctx.Err() == nil {
			d.died(n, errors.Join(died, err))
			n, ok = d.next(ctx)
		}
		ok = ok && ctx.Err() == nil
	}
	return nil
}

// died puts a shard back into the queue, or gives it up.
func (d *dispatcher) died(n int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.deaths[n]++
	if d.deaths[n] <= d.Retries {
		d.queue = append([]int{n}, d.queue...)
		return
	}
	d.failures[n] = fmt.Sprintf("its workers ended %d times: %v", d.deaths[n], err)
}

// give has a worker do a shard. The error says that the worker is gone.
func (d *dispatcher) give(w *remote, n int) error {
	if _, err := fmt.Fprintln(w.in, n); err != nil {
		return err
	}
	for {
		line, err := w.out.ReadBytes('\n')
		if err != nil {
			return err
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("a worker said %q: %w", line, err)
		}
		d.hear(n, m)
		if m.End {
			return nil
		}
	}
}

// hear takes up what a worker says of a shard.
func (d *dispatcher) hear(n int, m message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if m.Error != "" {
		d.failures[n] = m.Error
	}
	if m.Done > 0 {
		d.done[n], d.computed[n] = m.Done, m.Computed
	}
	if d.Progress == nil {
		return
	}
	run := time.Since(d.begin)
	p := lab.Progress{Total: d.total, Run: run, Workers: d.Workers, Busy: []time.Duration{run}}
	for i := range d.done {
		p.Done += d.done[i]
		p.Computed += d.computed[i]
	}
	d.Progress(p)
}

type remote struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	stop func() bool
}

// start starts a worker. It ends, after saving, when its standard input does: when ctx ends, or this process.
func (d *dispatcher) start(ctx context.Context, share string) (*remote, error) {
	args := append(slices.Clone(d.Command[1:]), d.dir, share)
	w := &remote{cmd: exec.Command(d.Command[0], args...)}
	w.cmd.Stderr = os.Stderr
	in, err1 := w.cmd.StdinPipe()
	out, err2 := w.cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	w.in, w.out = in, bufio.NewReader(out)
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	w.stop = context.AfterFunc(ctx, func() { _ = in.Close() })
	return w, nil
}

func (w *remote) close() error {
	w.stop()
	_ = w.in.Close()
	_, _ = io.Copy(io.Discard, w.out)
	return w.cmd.Wait()
}
