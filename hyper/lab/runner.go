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
		if err := out.resumed(b.number, len(b.lanes)*r.plan.spec.Periods); err != nil {
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
	if err := out.resumed(b.number, len(b.lanes)*a.done); err != nil {
		return err
	}
	if err := a.run(ctx); err != nil {
		return err
	}
	return a.finish()
}

// begin returns a batch's state: the state from its checkpoint, or otherwise the state at period 0.
func (r *runner) begin(p *program, b batch, c checkpoint, left []*tensors.Tensor) ([]*tensors.Tensor, error) {
	state, err := p.initial(r.plan.seeds(b), r.plan.inputs(b)) // also sets the names of p
	if err != nil || left == nil {
		return state, err
	}
	same := slices.Equal(c.Names, p.names) &&
		slices.EqualFunc(left, state, func(x, y *tensors.Tensor) bool { return x.Shape().Equal(y.Shape()) })
	free(state)
	if !same {
		return nil, fmt.Errorf("checkpoint %s was written by a different program: remove the file; resume then "+
			"starts these runs again", checkpointPath(r.opts.Dir, b.number))
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
	free(state)
	return p, err
}
