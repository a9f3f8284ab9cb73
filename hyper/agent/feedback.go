package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
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
// Config.Background). The first feedback of a decision counts; what comes again is ignored. Config.Reward may say
// otherwise: several rewards are combined and learned when the wait is over, and what was learned is corrected. The
// feedback of a deferred decision says that it was shown.
//
// The error joins those of each Feedback that was not taken; the others were. It wraps ErrUnknown, ErrExpired,
// ErrReward when the loss is not of such rewards or a later reward has another weight, ErrNotFinite when a reward is too large for single precision or
// training on it diverges, ErrClosed, or the error of ctx, after which no more is taken. A Feedback that was not taken
// may be sent again.
func (a *Agent) Observe(ctx context.Context, all ...Feedback) error {
	var errs []error
	var waits []func() error
	for i, f := range all {
		if err := ctx.Err(); err != nil {
			errs = append(errs, fmt.Errorf("%d of %d rewards were not taken: %w", len(all)-i, len(all), err))
			break
		}
		wait, err := a.take(f, time.Now())
		if errs = append(errs, err); err == nil {
			waits = append(waits, wait)
		}
	}
	for _, wait := range waits { // for the disk, which makes many records safe at once
		errs = append(errs, wait())
	}
	return errors.Join(errs...)
}

// take learns from one feedback that comes at a time, or keeps it. That and the note that it has come change together,
// as Save sees them. The caller calls wait.
func (a *Agent) take(f Feedback, now time.Time) (wait func() error, err error) {
	a.learning.Lock()
	defer a.learning.Unlock()
	w, err := a.pending.look(f.ID, now)
	if err != nil {
		return nil, err
	}
	f.Weight = cmp.Or(f.Weight, 1)
	reward := a.config.Reward
	switch y := reward.Combine.with(w.outcome, f.Reward); {
	case !w.counted && reward.keeps():
		wait, err = a.kept(w, f, y, now)
	case !w.counted:
		r := journal.Record{Time: now.UnixNano(), Feedback: &journal.Feedback{ID: f.ID, Reward: f.Reward, Weight: f.Weight}}
		wait, err = a.settled(r, w, journal.Settled{ID: f.ID, Reward: f.Reward, Weight: f.Weight})
	case w.Default || reward.keeps() && w.Rewarded && y != w.Reward:
		wait, err = a.corrected(w, f, y, now)
	default:
		return a.synced, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reward of decision %s: %w", f.ID, err)
	}
	return wait, nil
}
