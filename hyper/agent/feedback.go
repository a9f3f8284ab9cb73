package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
// ErrNotFinite if a reward is too large for single precision or if training on it diverges, ErrClosed, ErrLog, or the
// error of ctx, after which no more feedback is taken. A Feedback that was not taken may be sent again. After ErrLog
// the agent may have learned from the feedback, without a safe record of it.
func (a *Agent) Observe(ctx context.Context, all ...Feedback) error {
	return joined(ctx, a.ObserveEach(ctx, all...), "rewards were not taken")
}

// ObserveEach is Observe with an error for each Feedback, nil for the ones that were taken.
func (a *Agent) ObserveEach(ctx context.Context, all ...Feedback) []error {
	return each(ctx, len(all), func(i int) (wait func() error, err error) { return a.take(all[i], time.Now()) })
}

// each makes n changes until ctx ends, and returns the error of each one. The changes share syncs of the log.
func each(ctx context.Context, n int, change func(i int) (wait func() error, err error)) []error {
	errs, waits := make([]error, n), make([]func() error, n)
	for i := range n {
		if errs[i] = ctx.Err(); errs[i] == nil {
			waits[i], errs[i] = change(i)
		}
	}
	for i, wait := range waits {
		if errs[i] == nil {
			errs[i] = wait()
		}
	}
	return errs
}

// joined joins the errors of each. Errors of ctx are joined to one, which begins with the number of changes that were
// not made and says what these are.
func joined(ctx context.Context, errs []error, what string) error {
	ended := func(err error) bool { return err != nil && err == ctx.Err() }
	if at := slices.IndexFunc(errs, ended); at >= 0 {
		err := fmt.Errorf("%d of %d %s: %w", len(errs)-at, len(errs), what, ctx.Err())
		errs = append(errs[:at:at], err)
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
