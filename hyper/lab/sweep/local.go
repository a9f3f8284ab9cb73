package sweep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/hypermodels/hypermodels/hyper/internal/shell"
	"github.com/hypermodels/hypermodels/hyper/internal/workers"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Local runs the shards of a sweep in processes of this machine.
type Local struct {
	Command  []string // command line of a program that calls Serve; Run appends the folder and the share of cores
	Workers  int      // number of processes; 0 means 1
	Retries  int      // number of times that a shard is given to another worker after its worker was killed
	Progress func(lab.Progress)
}

// ErrShards reports that some shards of a sweep failed.
var ErrShards = errors.New("shards failed")

// Run runs all shards that are not done. If a shard fails, the others continue, and the error at the end wraps
// ErrShards. When ctx ends, the workers save and the error is lab.ErrInterrupted. Another call of Run continues the
// sweep.
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
	count := min(max(l.Workers, 1), len(d.queue))
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

// dispatcher gives shards to the workers of a Local.
type dispatcher struct {
	Local
	dir   string
	begin time.Time

	mu             sync.Mutex
	queue          []int
	total          int64
	done, computed map[int]int64 // run-periods of each shard; computed counts only this call
	deaths         map[int]int   // number of workers that died while they had the shard
	failures       map[int]string
}

func (d *dispatcher) failed() error {
	if len(d.failures) == 0 {
		return nil
	}
	numbers := slices.Sorted(maps.Keys(d.failures))
	return fmt.Errorf("%w: %s of %s (%s); `hyper sweep %s` runs them again", ErrShards, Ranges(numbers), d.dir,
		d.failures[numbers[0]], shell.Word(d.dir))
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

// worker runs shards in a process. When the process dies, worker starts another.
func (d *dispatcher) worker(ctx context.Context, share string) error {
	n, ok := d.next(ctx)
	for ok {
		w, err := workers.Start(ctx, d.Command, func(*exec.Cmd) {}, d.dir, share)
		if err != nil {
			return err
		}
		for ok && err == nil {
			err = workers.Do(w, n, func(m message) (bool, error) { d.handle(n, m); return m.End, nil })
			if err == nil {
				n, ok = d.next(ctx)
			}
		}
		died := w.Close()
		if err != nil && ctx.Err() == nil {
			d.died(n, errors.Join(died, err))
			n, ok = d.next(ctx)
		}
		ok = ok && ctx.Err() == nil
	}
	return nil
}

// died puts a shard back into the queue, or gives it up after too many deaths.
func (d *dispatcher) died(n int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.deaths[n]++
	if d.deaths[n] <= d.Retries {
		d.queue = append([]int{n}, d.queue...)
		return
	}
	d.failures[n] = fmt.Sprintf("its worker processes died %d times: %v", d.deaths[n], err)
}

// handle records a worker's message about a shard.
func (d *dispatcher) handle(n int, m message) {
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
