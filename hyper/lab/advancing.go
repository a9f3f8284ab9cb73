package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper/stats"
)

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
			return cmp.Or(a.save(), ErrInterrupted)
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

// call advances by one call of the program, at most to the next period of the schedule, and reports it.
func (a *advancing) call() error {
	stop := a.nextStop()
	next := min(stop, a.done+a.runner.opts.Chunk)
	begin, count := time.Now(), len(a.batch.lanes)*(next-a.done)
	if err := a.step(next); err != nil {
		return err
	}
	if err := a.out.computed(a.batch.number, count, time.Since(begin)); err != nil {
		return err
	}
	if next == stop {
		a.out.recorded(a.batch.number, a.rows)
	}
	return nil
}

// step advances to a period. If the schedule has this period, step adds the rows of the period.
func (a *advancing) step(period int) (err error) {
	stop := a.nextStop()
	if a.state, err = a.program.until(a.state, period); err != nil {
		return err
	}
	if a.done = period; period == stop {
		return a.record()
	}
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
		if math.IsNaN(regret[i]) || math.IsInf(regret[i], 0) {
			return fmt.Errorf("after %d periods the regret of run %d with agent %s is %v: Outcome.Regret of the world %s must "+
				"be finite", a.done, l.run, a.runner.plan.spec.Entries[l.entry].Agent, regret[i], a.program.name)
		}
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
	free(a.state)
	if err := (checkpoint{Batch: a.batch.number, Rows: a.rows}).save(a.runner.opts.Dir, nil); err != nil {
		return err
	}
	return a.out.saved(a.batch.number, a.rows, true)
}

// nextStop returns the next period of the schedule.
func (a *advancing) nextStop() int {
	periods := a.runner.plan.spec.Periods
	for _, stop := range Schedule(periods) {
		if stop > a.done {
			return stop
		}
	}
	return periods
}
