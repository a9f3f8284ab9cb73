package agent

import (
	"fmt"
	"time"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// correctReward corrects what the agent has learned from a decision, after a late reward. y is the reward of the
// decision that includes the late reward.
func (a *Agent) correctReward(w waiting, f Feedback, y float32, now time.Time) (wait func() error, err error) {
	if err := a.checkCombined(w, f, y); err != nil {
		return nil, err
	}
	s := journal.Settled{ID: f.ID, Reward: y, Weight: f.Weight}
	if wait, err = a.relearnReward(journal.Record{Time: now.UnixNano(), Settled: &s}, w, y); err == nil {
		a.settlements.late.Add(1)
	}
	return wait, err
}

// relearnReward changes the learned reward of a decision to y, and appends the record that describes it.
func (a *Agent) relearnReward(r journal.Record, w waiting, y float32) (wait func() error, err error) {
	steps := []step{a.revised(w, y)}
	if a.config.Background == nil {
		steps = append(steps, a.trained)
	}
	if wait, err = a.learnLocked(r, steps...); err == nil {
		a.pending.change(w.number, func(w *waiting) { w.Rewarded, w.Default, w.Reward = true, false, y })
	}
	return wait, err
}

// replaySettled applies a Settled record.
func (a *Agent) replaySettled(s journal.Settled) error {
	a.learning.Lock()
	defer a.learning.Unlock()
	w, err := a.pending.lookUp(s.ID, time.Time{})
	switch {
	case err != nil:
	case w.counted:
		_, err = a.relearnReward(journal.Record{}, w, s.Reward)
	default:
		_, err = a.learnReward(journal.Record{Settled: &s}, w, s)
	}
	return err
}

// revised returns the step that corrects the response of the datum that was learned from a decision: see
// [train.Trainer.Revise]. It changes nothing if the agent no longer has the datum.
func (a *Agent) revised(w waiting, y float32) step {
	return func(s *snapshot) (*snapshot, error) {
		number := w.Datum - 1
		row, replays := -1, a.config.Learner.Train.Replays()
		if replays && number >= 0 {
			row = a.config.rowOf(s.data, number)
		}
		switch {
		case number < 0, number >= s.data.Seen, w.Era != a.config.eraOf(s),
			replays && row < 0 && !a.config.Learner.Train.Standardize:
			return s.replaced(nil, nil), nil
		}
		if s.learned != nil {
			return s.learnedNext(s.learned.Revise(w.x, w.Reward, y, w.Weight, s.data.Seen-w.Datum))
		}
		u, err := a.revise.program(a, s.data.Rows)
		if err != nil {
			return nil, err
		}
		return u.apply(s, a.correction(s, row, w, y)...)
	}
}

// correction returns the arguments of the program that corrects the datum in a row.
func (a *Agent) correction(s *snapshot, row int, w waiting, y float32) []any {
	out := a.datum(s, row, w.x, y, w.Weight)
	out[0] = int32(s.data.Seen - w.Datum)
	return append(out, []float32{w.Reward})
}

// buildRevise builds the program that corrects a datum. rest holds the number of data after it, its row, x, y, its
// weight if data are Weighted, and the old y.
func (a *form) buildRevise(state train.State, rest []*Node) train.State {
	last := len(rest) - 1
	c := train.Correction{Age: rest[0], Row: rest[1], X: rest[2], Y: rest[3], Was: rest[last]}
	return a.config.Learner.Revise(state, nil, streams(state).Learn(rest[0]), c, optional(rest[:last], 4))
}

// revision caches the program that corrects data, for a number of rows.
type revision struct {
	update *update // nil before the first use
	rows   int
}

// program returns the program, and creates it if needed. The caller holds a.learning.
func (r *revision) program(a *Agent, rows int) (*update, error) {
	if r.update != nil && r.rows == rows {
		return r.update, nil
	}
	u, err := a.newUpdate(a.buildRevise)
	if err != nil {
		return nil, fmt.Errorf("building the program that corrects data: %w", err)
	}
	if r.update != nil {
		r.update.exec.Finalize()
	}
	r.update, r.rows = u, rows
	return u, nil
}

// rowOf returns the row of a datum in the replay buffer, or -1 if the buffer no longer has it. number counts the data
// from 0.
func (c Config) rowOf(d contents, number int) int {
	if dropped := d.Seen - d.Kept; dropped == 0 || c.Replay == Window {
		if number < dropped {
			return -1
		}
		return (d.Oldest + number - dropped) % d.Rows
	}
	row := number // of a reservoir
	if number >= d.Rows {
		row = randomBelow(c.Seed, number+1)
	}
	for later := max(number+1, d.Rows); later < d.Seen && row < d.Rows; later++ {
		if randomBelow(c.Seed, later+1) == row {
			return -1
		}
	}
	if row >= d.Rows {
		return -1
	}
	return row
}
