package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// Feedback is what came of a decision.
type Feedback struct {
	ID     string // of the Decision
	Reward float32
	// Weight is as how many feedbacks it counts; 0 is 1. Another weight than 1 needs Config.Learner.Train.Weighted.
	Weight float32
}

// Observe takes the feedback of decisions, late and in any order, and learns from it: it adds the datum of the
// decision's input and the reward, and makes a round of SGD steps, which a background learner makes later (see
// Config.Background). The first feedback of a decision counts; what comes again is ignored.
//
// The error joins those of each Feedback that was not taken; the others were. It wraps ErrUnknown, ErrExpired,
// ErrReward when the loss is not of such rewards, ErrNotFinite when a reward is too large for single precision or
// training on it diverges, ErrClosed, or the error of ctx, after which no more is taken. A Feedback that was not taken
// may be sent again.
func (a *Agent) Observe(ctx context.Context, all ...Feedback) error {
	var errs []error
	for i, f := range all {
		if err := ctx.Err(); err != nil {
			errs = append(errs, fmt.Errorf("%d of %d feedbacks were not taken: %w", len(all)-i, len(all), err))
			break
		}
		errs = append(errs, a.take(f))
	}
	return errors.Join(errs...)
}

// take learns from one feedback. That and the note that it has come change together, as Save sees them.
func (a *Agent) take(f Feedback) error {
	a.learning.Lock()
	defer a.learning.Unlock()
	x, first, err := a.pending.claim(f.ID, time.Now())
	if err != nil || !first {
		return err
	}
	steps := []step{a.added(x, f.Reward, cmp.Or(f.Weight, 1))}
	if a.config.Background == nil {
		steps = append(steps, a.trained)
	}
	if err := a.learnLocked(steps...); err != nil {
		a.pending.release(f.ID)
		return fmt.Errorf("feedback of decision %s: %w", f.ID, err)
	}
	a.background.wake()
	return nil
}
