package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gomlx/gomlx/core/tensors"
)

// sink hears what a runner does for a worker.
type sink interface {
	compiled(shape int, d time.Duration) error
	computed(batch, runPeriods int, busy time.Duration) error
	// recorded says that the batch has these rows so far.
	recorded(batch int, rows []Row)
	// saved says that the batch's checkpoint was written, with these rows; done that they are all.
	saved(batch int, rows []Row, done bool) error
}

// runner advances batches of a plan.
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

// advance runs a batch to its end; when ctx ends it saves, and returns ErrInterrupted.
func (r *runner) advance(ctx context.Context, b batch, out sink) error {
	var left []*tensors.Tensor
	c, err := loadCheckpoint(r.opts.Dir, r.plan, b, &left)
	if err != nil {
		return err
	}
	if len(c.Rows) == r.plan.rows(b) { // finished before, and waiting for an earlier batch
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
	rows, lastSave := c.Rows, time.Now()
	done := p.periodOf(state)
	for done < r.plan.spec.Periods {
		if ctx.Err() != nil {
			return errors.Join(r.save(p, b, state, rows, out), ErrInterrupted)
		}
		stop := nextStop(r.plan.spec.Periods, done)
		next := min(stop, done+r.opts.Chunk)
		begin := time.Now()
		if state, err = p.until(state, next); err != nil {
			return err
		}
		if err := out.computed(b.number, len(b.lanes)*(next-done), time.Since(begin)); err != nil {
			return err
		}
		if done = next; done == stop {
			if rows, err = r.record(p, b, state, rows, done); err != nil {
				return err
			}
			out.recorded(b.number, rows)
		}
		if time.Since(lastSave) > r.opts.Every && done < r.plan.spec.Periods {
			if err := r.save(p, b, state, rows, out); err != nil {
				return err
			}
			lastSave = time.Now()
		}
	}
	for _, t := range state {
		t.MustFinalizeAll()
	}
	if err := (checkpoint{Batch: b.number, Rows: rows}).save(r.opts.Dir, nil); err != nil {
		return err
	}
	return out.saved(b.number, rows, true)
}

// nextStop is the first period of the schedule after done.
func nextStop(periods, done int) int {
	for _, stop := range Schedule(periods) {
		if stop > done {
			return stop
		}
	}
	return periods
}

// begin returns a batch's state, which is that left at its checkpoint, or that at period 0.
func (r *runner) begin(p *program, b batch, c checkpoint, left []*tensors.Tensor) ([]*tensors.Tensor, error) {
	state, err := p.initial(r.plan.seeds(b), r.plan.inputs(b)) // also tells p the names
	if err != nil || left == nil {
		return state, err
	}
	same := slices.Equal(c.Names, p.names) && slices.EqualFunc(left, state, func(x, y *tensors.Tensor) bool { return x.Shape().Equal(y.Shape()) })
	for _, t := range state {
		t.MustFinalizeAll()
	}
	if !same {
		return nil, fmt.Errorf("checkpoint %s is of another program: remove it, and resume begins its runs anew", checkpointPath(r.opts.Dir, b.number))
	}
	return left, nil
}

// save writes the batch's checkpoint.
func (r *runner) save(p *program, b batch, state []*tensors.Tensor, rows []Row, out sink) error {
	if err := (checkpoint{Batch: b.number, Names: p.names, Rows: rows}).save(r.opts.Dir, state); err != nil {
		return err
	}
	return out.saved(b.number, slices.Clone(rows), false)
}

// record adds the rows of a period.
func (r *runner) record(p *program, b batch, state []*tensors.Tensor, rows []Row, period int) ([]Row, error) {
	regret, err1 := read[float64](p, state, stateRegret)
	digest, err2 := read[uint32](p, state, stateDigest)
	diverged, err3 := read[int32](p, state, stateDiverged)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	seeds := r.plan.seeds(b)
	for i, l := range b.lanes {
		rows = append(rows, Row{Entry: l.entry, Run: l.run, Seed: seeds[i], Period: period, Regret: Float(regret[i]), Diverged: int(diverged[i]), Digest: digest[i]})
	}
	return rows, nil
}

// program returns the compiled program of a batch's shape; the first to ask compiles it.
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
	env, agent := r.plan.shapes[b.shape].Setting.Build(r.plan.spec.Periods)
	inputs := r.plan.inputs(b)
	p, err := newProgram(r.opts.Backend, env, agent, slices.Sorted(maps.Keys(inputs)))
	if err != nil {
		return nil, err
	}
	state, err := p.initial(r.plan.seeds(b), inputs)
	if err == nil && p.loop { // compiles; advances by nothing
		state, err = p.until(state, 0)
	}
	for _, t := range state {
		t.MustFinalizeAll()
	}
	return p, err
}
