package serve

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

// Records are those of a log, in their order: durable.Log.All has them.
type Records = iter.Seq2[journal.Record, error]

// Replay returns an agent of the Spec that has learned from the rewards of a log, which another agent has written: from
// its records before a number. The Spec must have the names and features of that agent, see [CheckNames]. Feedback
// trains the agent as it comes, and what the other trained beside that is left out, as are rewards of decisions that
// the log has dropped, or the agent no longer remembers. What silence taught the other is in the log.
//
// The error is that of a Spec, of a record, or of a reward that the Spec's learner cannot learn from.
func Replay(ctx context.Context, records Records, spec Spec, before uint64) (*agent.Agent, error) {
	spec.Background = 0
	c, err := spec.Config()
	if err != nil {
		return nil, err
	}
	a, err := agent.New(c)
	if err != nil {
		return nil, err
	}
	return a, learnFrom(ctx, a, records, before)
}

// learnFrom lets an agent learn from records before a number.
func learnFrom(ctx context.Context, a *agent.Agent, records Records, before uint64) error {
	for r, err := range records {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if r.Number >= before {
			break
		}
		if r.Trained != nil {
			continue
		}
		if r.Decision != nil {
			r.Decision.Input = nil // the other's
		}
		if err := a.Replay(r); err != nil && !errors.Is(err, agent.ErrUnknown) && !errors.Is(err, agent.ErrExpired) {
			return err
		}
	}
	return nil
}

// SaveNew saves an agent of a Spec without a log in a new folder, where a server finds it.
func SaveNew(a *agent.Agent, spec Spec, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := a.Save(filepath.Join(dir, agentFile)); err != nil {
		return err
	}
	return leave(dir, spec)
}
