package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper/stats"
)

// sink receives the progress of batches. The methods that return an error stop the batch with it.
type sink interface {
	// compiled reports the time that compiling the program of a shape took.
	compiled(shape int, d time.Duration) error
	// computed reports that a batch advanced by a number of run-periods, and the time that this took.
	computed(batch, runPeriods int, busy time.Duration) error
	// recorded reports all rows that the batch has so far.
	recorded(batch int, rows []Row)
	// saved reports that the batch's checkpoint, with these rows, was written. done means that the batch is complete.
	saved(batch int, rows []Row, done bool) error
}

// runner advances batches of a plan with the compiled programs of its shapes.
type runner struct {
	plan     plan
	opts     Options
	programs []*lazyProgram // one for each shape of the plan
}

func newRunner(p plan, o Options) *runner {
	r := &runner{plan: p, opts: o}
	for _, e := range p.shapes {
		r.programs = append(r.programs, o.Programs.program(p.spec, o.Backend, e))
	}
	return r
}

// advance runs a batch to its end. When ctx ends, advance saves a checkpoint and returns ErrInterrupted.
func (r *runner) advance(ctx context.Context, b batch, out sink) error {
	var left []*tensors.Tensor
	c, err := loadCheckpoint(r.opts.Dir, r.plan, b, &left)
	if err != nil {
		return err
	}
	if len(c.Rows) == r.plan.rows(b) { // the batch was finished before, but an earlier batch was not
		if err := out.computed(b.number, 0, 0); err != nil {
			return err
		}
		return out.saved(b.number, c.Rows, true)
	}
	p, err := r.program(b, out)
	if err != nil {
		return err
	}
	state, err := r.begin(p, b, c, left)
	if err != nil {
		return err
	}
	a := &advancing{runner: r, program: p, batch: b, out: out, state: state, rows: c.Rows,
		done: p.periodOf(state), saved: time.Now()}
	if err := a.run(ctx); err != nil {
		return err
	}
	return a.finish()
}

// advancing is a batch that is being run, from its start or its checkpoint to its end.
type advancing struct {
	runner  *runner
	program *program
	batch   batch
	out     sink
	state   []*tensors.Tensor
	rows    []Row
	done    int       // number of periods done
	saved   time.Time // time of the last checkpoint
}

// run advances to the last period. It saves a checkpoint from time to time.
func (a *advancing) run(ctx context.Context) error {
	for periods := a.runner.plan.spec.Periods; a.done < periods; {
		if ctx.Err() != nil {
			return errors.Join(a.save(), ErrInterrupted)
		}
		if err := a.call(); err != nil {
			return err
		}
		if time.Since(a.saved) > a.runner.opts.Every && a.done < periods {
			if err := a.save(); err != nil {
				return err
			}
		}
	}
	return nil
}

// call advances by one call of the program. If the schedule has the new period, call adds the rows of the period.
func (a *advancing) call() (err error) {
	stop := nextStop(a.runner.plan.spec.Periods, a.done)
	next := min(stop, a.done+a.runner.opts.Chunk)
	begin, count := time.Now(), len(a.batch.lanes)*(next-a.done)
	if a.state, err = a.program.until(a.state, next); err != nil {
		return err
	}
	a.done = next
	if err := a.out.computed(a.batch.number, count, time.Since(begin)); err != nil {
		return err
	}
	if next < stop {
		return nil
	}
	if err := a.record(); err != nil {
		return err
	}
	a.out.recorded(a.batch.number, a.rows)
	return nil
}

func (a *advancing) record() error {
	regret, err1 := read[float64](a.program, a.state, stateRegret)
	digest, err2 := read[uint32](a.program, a.state, stateDigest)
	diverged, err3 := read[int32](a.program, a.state, stateDiverged)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	seeds := a.runner.plan.seeds(a.batch)
	for i, l := range a.batch.lanes {
		a.rows = append(a.rows, Row{Entry: l.entry, Run: l.run, Seed: seeds[i], Period: a.done,
			Regret: stats.Float(regret[i]), Diverged: int(diverged[i]), Digest: digest[i]})
	}
	return nil
}

func (a *advancing) save() error {
	c := checkpoint{Batch: a.batch.number, Names: a.program.names, Rows: a.rows}
	if err := c.save(a.runner.opts.Dir, a.state); err != nil {
		return err
	}
	a.saved = time.Now()
	return a.out.saved(a.batch.number, slices.Clone(a.rows), false)
}

// finish saves the final checkpoint of a batch, which has no state.
func (a *advancing) finish() error {
	for _, t := range a.state {
		t.MustFinalizeAll()
	}
	if err := (checkpoint{Batch: a.batch.number, Rows: a.rows}).save(a.runner.opts.Dir, nil); err != nil {
		return err
	}
	return a.out.saved(a.batch.number, a.rows, true)
}

// nextStop returns the first period of the schedule after done.
func nextStop(periods, done int) int {
	for _, stop := range Schedule(periods) {
		if stop > done {
			return stop
		}
	}
	return periods
}

// begin returns a batch's state: the state from its checkpoint, or otherwise the state at period 0.
func (r *runner) begin(p *program, b batch, c checkpoint, left []*tensors.Tensor) ([]*tensors.Tensor, error) {
	state, err := p.initial(r.plan.seeds(b), r.plan.inputs(b)) // also sets the names of p
	if err != nil || left == nil {
		return state, err
	}
	same := slices.Equal(c.Names, p.names) &&
		slices.EqualFunc(left, state, func(x, y *tensors.Tensor) bool { return x.Shape().Equal(y.Shape()) })
	for _, t := range state {
		t.MustFinalizeAll()
	}
	if !same {
		return nil, fmt.Errorf("checkpoint %s was written by a different program: remove the file; resume then "+
			"starts these runs again",
			checkpointPath(r.opts.Dir, b.number))
	}
	return left, nil
}

// program returns the compiled program of a batch's shape. The first caller compiles it; others wait.
func (r *runner) program(b batch, out sink) (*program, error) {
	c := r.programs[b.shape]
	c.once.Do(func() {
		begin := time.Now()
		c.p, c.err = r.compile(b)
		c.err = errors.Join(c.err, out.compiled(b.shape, time.Since(begin)))
	})
	return c.p, c.err
}

func (r *runner) compile(b batch) (*program, error) {
	world, agent := r.plan.shapes[b.shape].Setting.Build(r.plan.spec.Periods)
	inputs := r.plan.inputs(b)
	p, err := newProgram(r.opts.Backend, world, agent, slices.Sorted(maps.Keys(inputs)))
	if err != nil {
		return nil, err
	}
	state, err := p.initial(r.plan.seeds(b), inputs)
	if err == nil && p.blocks != nil { // compiles, and advances by no period
		state, err = p.until(state, 0)
	}
	for _, t := range state {
		t.MustFinalizeAll()
	}
	return p, err
}
