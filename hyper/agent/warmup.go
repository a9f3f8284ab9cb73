package agent

import (
	"context"
	"fmt"
)

// Warmup compiles the programs of Observe, Add, Learn, and of Act with each of the given numbers of actions, so that
// none of them compiles later. A service calls it before its first request. It adds no datum and makes no decision.
// Without features it also compiles Act for all arms. The doublings of Growth still compile when they happen.
func (a *Agent) Warmup(actions ...int) error {
	for _, n := range actions {
		if n < 1 {
			return fmt.Errorf("a number of actions to warm up for must be at least 1, got %d", n)
		}
	}
	f, belief := a.belief()
	defer belief.drop()
	if f.config.Features == 0 {
		actions = append([]int{0}, actions...)
	}
	if f.reader == nil {
		if err := a.warmLearning(); err != nil {
			return err
		}
	}
	for _, n := range actions {
		if err := f.warmAct(belief, n); err != nil {
			return err
		}
	}
	return nil
}

// ready waits until the program of Act with a padded number of actions is compiled, or until ctx ends.
func (a *form) ready(ctx context.Context, belief *snapshot, size int) error {
	if err := ctx.Err(); err != nil || ctx.Done() == nil {
		return err
	}
	p, err := a.program(shape{inputs: size})
	if err != nil {
		return err
	}
	defer a.programs.done(p)
	if p.compiled.Load() {
		return nil
	}
	compiled := make(chan error, 1)
	held := belief.replaced(nil, nil)
	go func() {
		defer held.drop()
		compiled <- a.warmAct(held, size)
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-compiled:
		return err
	}
}

func (a *Agent) warmLearning() error {
	a.learning.Lock()
	defer a.learning.Unlock()
	if a.learner != nil {
		return nil
	}
	s := a.current()
	defer s.drop()
	datum := a.datum(s, 0, make([]float32, max(a.config.Features, 1)), 0, 1)
	if err := a.observe.compile(s, datum...); err != nil {
		return err
	}
	if a.config.readsRefused() {
		if err := a.keep.compile(s, datum...); err != nil {
			return err
		}
	}
	if a.config.Reward.waits() {
		u, err := a.revise.program(a, s.data.Rows)
		if err != nil {
			return err
		}
		x := make([]float32, max(a.config.Features, 1))
		if err := u.compile(s, a.correction(s, -1, waiting{x: x, outcome: outcome{Weight: 1}}, 0)...); err != nil {
			return err
		}
	}
	return a.train.compile(s, a.round(s)...)
}

// decidesOnHost reports whether decisions among this number of actions are made in plain Go.
func (a *form) decidesOnHost(belief *snapshot, actions int) (bool, error) {
	var x [][]float32
	for range actions {
		x = append(x, make([]float32, max(a.config.Features, 1)))
	}
	_, ok, err := a.decideOnHost(belief, x, 0)
	return ok, err
}

// warmAct compiles Act for a number of actions; 0 means all arms.
func (a *form) warmAct(held *snapshot, actions int) error {
	if ok, err := a.decidesOnHost(held, actions); ok || err != nil {
		return err
	}
	size := padded(actions)
	p, err := a.program(shape{inputs: size})
	if err != nil {
		return err
	}
	defer a.programs.done(p)
	belief, err := a.wholeOf(held, a.read)
	if err != nil {
		return err
	}
	defer belief.drop()
	more := []any{uint32(0)}
	if actions > 0 {
		inputs := a.inputs([][]float32{make([]float32, max(a.config.Features, 1))}, size)
		defer free(inputs)
		more = append(more, int32(actions), inputs)
	}
	_, err = p.exec.Compile(shapesOf(arguments(belief.tensors(), more...))...)
	p.compiled.Store(err == nil)
	return err
}
