package agent

import (
	"context"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

// Shown marks deferred decisions as shown. From now on the agent waits for their rewards, as it does for other
// decisions from the decision on (see [Reward]). A decision that is not shown before Expire, or before it leaves
// Pending, teaches nothing. A decision that was not deferred, or was shown before, is unchanged.
//
// The error joins the errors of each decision that the agent does not remember; the others are marked. It wraps
// ErrUnknown, ErrExpired, ErrLog, or the error of ctx.
func (a *Agent) Shown(ctx context.Context, ids ...string) error {
	return joined(ctx, a.ShownEach(ctx, ids...), "decisions were not marked as shown")
}

// ShownEach is Shown with an error for each decision, nil for the ones that are marked.
func (a *Agent) ShownEach(ctx context.Context, ids ...string) []error {
	return each(ctx, len(ids), func(i int) (wait func() error, err error) { return a.show(ids[i], time.Now()) })
}

// show marks a decision as shown at the time now. The caller must call wait.
func (a *Agent) show(id string, now time.Time) (wait func() error, err error) {
	w, err := a.pending.lookUp(id, now)
	if err != nil || !w.Hidden {
		return a.syncLog, err
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
