package agent

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

// Settlements counts how decisions were settled since the program opened the agent: see [Reward].
type Settlements struct {
	Default  uint64 // number of decisions settled with the default
	Rewards  uint64 // number of decisions settled with rewards that were kept
	Late     uint64 // number of rewards that corrected what had been learned
	Deferred uint64 // number of deferred decisions
	Shown    uint64 // number of deferred decisions that were shown
}

// settlements holds the counts of Settlements while they change.
type settlements struct{ byDefault, rewards, late, deferred, shown atomic.Uint64 }

// Settlements returns the counts of settled decisions.
func (a *Agent) Settlements() Settlements {
	s := &a.settlements
	return Settlements{s.byDefault.Load(), s.rewards.Load(), s.late.Load(), s.deferred.Load(), s.shown.Load()}
}

// Settled returns the reward that an agent whose Config.Reward waits has learned for a decision; after a correction it
// is the corrected reward. ok is false if the agent has not learned from the decision yet, or no longer remembers it.
func (a *Agent) Settled(id string) (reward float32, ok bool) {
	w, err := a.pending.lookUp(id, time.Time{})
	return w.Reward, err == nil && w.counted && w.Datum > 0
}

// learnReward learns a reward for a decision from which the agent has not learned, and appends the record that
// describes it.
func (a *Agent) learnReward(r journal.Record, w waiting, s journal.Settled) (wait func() error, err error) {
	steps := []step{a.added(w.x, s.Reward, s.Weight)}
	if a.config.Background == nil {
		steps = append(steps, a.trained)
	}
	if wait, err = a.learnLocked(r, steps...); err != nil {
		return nil, err
	}
	out := outcome{}
	if a.config.Reward.waits() || r.Settled != nil {
		data, era := a.learned()
		out = outcome{Rewarded: !s.Default, Default: s.Default, Reward: s.Reward, Weight: s.Weight, Datum: data, Era: era}
	}
	a.pending.change(w.number, func(w *waiting) { w.counted, w.outcome = true, out })
	a.background.wake()
	return wait, nil
}

// learned returns the number of data observed, and their era.
func (a *Agent) learned() (data, era int) {
	a.reading.Lock()
	defer a.reading.Unlock()
	return a.now.data.Seen, a.config.eraOf(a.now)
}

// eraOf returns the number of restarts of an agent.
func (c Config) eraOf(s *snapshot) int {
	if c.Change != nil && c.Change.Restart {
		return s.change.Alarms
	}
	return 0
}

// keepReward keeps a reward until the wait of its decision is over. y is the decision's reward that includes it.
func (a *Agent) keepReward(w waiting, f Feedback, y float32, now time.Time) (wait func() error, err error) {
	if a.closed {
		return nil, ErrClosed
	}
	if err := a.checkCombined(w, f, y); err != nil {
		return nil, err
	}
	r := journal.Record{Time: now.UnixNano(),
		Feedback: &journal.Feedback{ID: f.ID, Reward: f.Reward, Weight: f.Weight, Kept: true}}
	first := false
	wait, err = a.commit(r, func() {
		first = a.pending.change(w.number, func(w *waiting) {
			if w.Hidden {
				w.Hidden, w.Shown = false, now.UnixNano()
			}
			w.Rewarded, w.Reward, w.Weight = true, y, f.Weight
		})
	})
	if first {
		a.settler.wake()
	}
	return wait, err
}

// checkCombined reports a reward that cannot be combined with the earlier rewards.
func (a *Agent) checkCombined(w waiting, f Feedback, y float32) error {
	if err := a.checkFeedback(f.Reward, f.Weight); err != nil {
		return err
	}
	if err := a.checkFeedback(y, f.Weight); err != nil {
		return fmt.Errorf("combined with the earlier rewards by %s: %w", a.config.Reward.Combine, err)
	}
	if (w.Rewarded || w.Default) && f.Weight != w.Weight {
		return fmt.Errorf("%w: the weight must equal the weight of the earlier reward, %v, got %v", ErrReward, w.Weight,
			f.Weight)
	}
	return nil
}

// startSettler starts the goroutine that settles decisions by time, if the agent needs it.
func (a *Agent) startSettler() {
	if _, _, some := a.pending.top(); !some && !a.config.Reward.waits() {
		return
	}
	b := newBackground()
	a.settler = b
	go func() {
		defer close(b.done)
		for {
			var over <-chan time.Time
			if _, end, ok := a.pending.top(); ok && !a.replaying() {
				over = time.After(time.Until(end))
			}
			select {
			case <-b.stop:
				return
			case <-b.more:
				continue
			case <-over:
			}
			err := a.settleDue(time.Now())
			if errors.Is(err, ErrClosed) || errors.Is(err, errReplays) {
				continue
			}
			if b.set(err); err != nil && !b.rest(time.Second) {
				return
			}
		}
	}()
}

// replaying reports whether the records of a log settle decisions.
func (a *Agent) replaying() bool {
	a.learning.Lock()
	defer a.learning.Unlock()
	return a.replays
}

// settleDue settles the decisions whose wait is over at the time now.
func (a *Agent) settleDue(now time.Time) (err error) {
	defer recovered(&err)
	wait := func() error { return nil }
	for {
		w, end, ok := a.pending.top()
		if !ok || end.After(now) {
			return wait()
		}
		next, err := a.settle(w, now)
		if err != nil {
			return errors.Join(err, wait())
		}
		wait = next
	}
}

// errReplays means that the records of a log settle decisions.
var errReplays = errors.New("the agent replays a log")

// settle learns the settlement of a decision, if the decision is not settled yet.
func (a *Agent) settle(w waiting, now time.Time) (wait func() error, err error) {
	a.learning.Lock()
	defer a.learning.Unlock()
	if a.replays {
		return nil, errReplays
	}
	if w, err = a.pending.lookUp(w.id(), time.Time{}); err != nil {
		return a.syncLog, nil // the agent no longer remembers it
	}
	y, weight, ok := a.pending.settlement(&w)
	if !ok {
		return a.syncLog, nil
	}
	s := journal.Settled{ID: w.id(), Reward: y, Weight: weight, Default: !w.Rewarded}
	if wait, err = a.learnReward(journal.Record{Time: now.UnixNano(), Settled: &s}, w, s); err != nil {
		return nil, fmt.Errorf("settling decision %s: %w", w.id(), err)
	}
	if s.Default {
		a.settlements.byDefault.Add(1)
	} else {
		a.settlements.rewards.Add(1)
	}
	return wait, nil
}

// makeRoom settles the decision whose place in the ring the decision number takes. If that fails, LearnerError returns
// the error and the decision is lost.
func (a *Agent) makeRoom(number uint64, now time.Time) error {
	w, ok := a.pending.leaving(number)
	if !ok {
		return nil
	}
	_, err := a.settle(w, now)
	if errors.Is(err, ErrLog) {
		return err
	}
	if err != nil && a.settler != nil && !errors.Is(err, ErrClosed) && !errors.Is(err, errReplays) {
		a.settler.set(err)
	}
	return nil
}
