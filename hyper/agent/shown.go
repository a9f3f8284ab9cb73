package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

// Shown says that deferred decisions have been shown: from now on their rewards are waited for, as those of others from
// the decision on (see [Reward]). What is not shown before Expire, or before it leaves Pending, teaches nothing. A
// decision that was not deferred, or was shown before, stays as it is.
//
// The error joins those of each decision that is not there; the others are shown. It wraps ErrUnknown, ErrExpired, ErrLog,
// or the error of ctx.
func (a *Agent) Shown(ctx context.Context, ids ...string) error {
	var errs []error
	wait := a.synced
	for i, id := range ids {
		if err := ctx.Err(); err != nil {
			errs = append(errs, fmt.Errorf("%d of %d decisions were not shown: %w", len(ids)-i, len(ids), err))
			break
		}
		next, err := a.show(id, time.Now())
		if errs = append(errs, err); err == nil {
			wait = next
		}
	}
	return errors.Join(append(errs, wait())...)
}

// show shows a decision at a time. The caller calls wait.
func (a *Agent) show(id string, now time.Time) (wait func() error, err error) {
	w, err := a.pending.look(id, now)
	if err != nil || !w.Hidden {
		return a.synced, err
	}
	first := false
	r := journal.Record{Time: now.UnixNano(), Shown: &journal.Shown{ID: id}}
	wait, err = a.commit(r, func() {
		first = a.pending.change(w.number, func(w *waiting) {
			if w.Hidden {
				w.Hidden, w.Shown = false, now.UnixNano()
			}
		})
	})
	if err == nil {
		a.settlements.shown.Add(1)
	}
	if first {
		a.settler.wake()
	}
	return wait, err
}
