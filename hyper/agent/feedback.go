package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

// Feedback is the result of a decision.
type Feedback struct {
	ID     string // the ID of the Decision
	Reward float32
	// Weight counts the feedback as that many equal ones; 0 means 1. A weight other than 1 needs
	// Config.Learner.Train.Weighted.
	Weight float32
}

// Observe takes the feedback of decisions, late and in any order, and learns from it. It adds a datum, the decision's
// input with the reward, and makes a round of SGD steps; a background learner makes the round later (see
// Config.Background). The first feedback of a decision counts, and later ones are ignored. Config.Reward can change
// this: the agent then combines several rewards, learns from them when the wait is over, and corrects what it has
// learned if a later reward arrives. Feedback for a deferred decision also marks the decision as shown.
//
// The error joins the errors of each Feedback that was not taken; all others were taken. It wraps ErrUnknown,
// ErrExpired, ErrReward if the loss does not accept such a reward or if a later reward has a different weight,
// ErrNotFinite if a reward is too large for single precision or if training on it diverges, ErrClosed, or the error of
// ctx, after which no more feedback is taken. A Feedback that was not taken may be sent again.
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
	for _, wait := range waits { // the disk makes many records safe in one sync
		errs = append(errs, wait())
	}
	return errors.Join(errs...)
}

// take learns from one feedback that arrives at a time, or keeps it. The state and the note that the feedback has
// arrived change together, so that Save sees both or neither. The caller must call wait.
func (a *Agent) take(f Feedback, now time.Time) (wait func() error, err error) {
	a.learning.Lock()
	defer a.learning.Unlock()
	w, err := a.pending.lookUp(f.ID, now)
	if err != nil {
		return nil, err
	}
	f.Weight = cmp.Or(f.Weight, 1)
	reward := a.config.Reward
	switch y := reward.Combine.with(w.outcome, f.Reward); {
	case !w.counted && reward.keeps():
		wait, err = a.keepReward(w, f, y, now)
	case !w.counted:
		r := journal.Record{Time: now.UnixNano(), Feedback: &journal.Feedback{ID: f.ID, Reward: f.Reward, Weight: f.Weight}}
		wait, err = a.learnReward(r, w, journal.Settled{ID: f.ID, Reward: f.Reward, Weight: f.Weight})
	case w.Default || reward.keeps() && w.Rewarded && y != w.Reward:
		wait, err = a.correctReward(w, f, y, now)
	default:
		wait, err = a.syncLog, a.checkFeedback(f.Reward, f.Weight)
	}
	if err != nil {
		return nil, fmt.Errorf("reward of decision %s: %w", f.ID, err)
	}
	return wait, nil
}
