// Package offline trains agents on logs and evaluates them, without a server. A log is the log of a server
// ([OpenFolder]), or a file with the decisions of any other policy and their rewards ([FileLog]). [Replay] returns an
// agent that has learned from a log. [Evaluate] estimates how well an agent would have done in place of the policy that
// wrote the log.
package offline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// Replay returns an agent of the Spec that has learned from the log of another agent, from its records before a number.
// Arms and features are matched by name, see [OpenLog]; names that the log does not have are new. Each feedback trains
// the agent. Replay leaves out additional training of the other agent, rewards of decisions that the log has dropped,
// and data of Agent.Add, which are inputs of the other agent. It learns the rewards of decisions without feedback as
// the log has them.
//
// The error is an error of the Spec or of a record, or reports a decision that does not fit the Spec, or a reward that
// the Spec's learner cannot learn from.
func Replay(ctx context.Context, log *Log, spec api.Spec, before uint64) (*agent.Agent, error) {
	a, err := log.trainedAgent(ctx, spec, before)
	if err != nil {
		return nil, err
	}
	if len(spec.Arms) > 0 {
		err = log.setArms(a, spec)
	}
	return closedAfter(a, err)
}

// setArms gives an agent that has learned from the log the arms of a Spec.
func (l *Log) setArms(a *agent.Agent, spec api.Spec) error {
	now := a.Arms()
	next, err := agentfile.ArmSet(spec, now, l.ArmNames(spec, len(now.Like)), l.own)
	if err != nil || slices.Equal(next.Names, spec.Arms) && len(now.Like) == len(next.Like) && len(now.Names) == 0 {
		return err
	}
	return a.ChangeArms(next)
}

// closedAfter returns an agent, or closes it if there is an error.
func closedAfter(a *agent.Agent, err error) (*agent.Agent, error) {
	if err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// ArmNames returns the names of at most n arms by their numbers; arms that only the Spec has are at the end.
func (l *Log) ArmNames(spec api.Spec, n int) []string {
	names := slices.Clone(l.arms)
	for _, name := range spec.Arms {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names[:min(n, len(names))]
}

// trainedAgent returns an agent of a Spec that has learned from the records before a number. It has the arms that the
// log has at that time. If it cannot add arms, it has all arms from the beginning.
func (l *Log) trainedAgent(ctx context.Context, spec api.Spec, before uint64) (*agent.Agent, error) {
	spec.Background = 0
	c, err := agentfile.Config(spec)
	if err == nil && len(spec.Arms) > 0 {
		n := math.MaxInt
		if c.AddsArms() {
			n = l.made
		}
		c, err = agentfile.ConfigWithArms(spec, l.ArmNames(spec, n))
	}
	if err != nil {
		return nil, err
	}
	a, err := agent.New(c)
	if err != nil {
		return nil, faults.Prefix("the agent's file: ", err)
	}
	return closedAfter(a, learnFrom(ctx, a, l.RecordsFor(spec), before, c.AddsArms()))
}

// learnFrom replays records before a number; it replays changes of arms only if arms is true.
func learnFrom(ctx context.Context, a *agent.Agent, records Records, before uint64, arms bool) error {
	there := map[string]bool{} // the decisions in these records
	for r, err := range records {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if r.Number >= before {
			break
		}
		if r.Trained != nil || r.Datum != nil || r.Features != nil || r.Arms != nil && !arms {
			continue
		}
		if r.Decision != nil {
			r.Decision.Input = nil // it is an input of the other agent
			there[r.Decision.ID] = true
		}
		err := a.Apply(r)
		dropped := errors.Is(err, agent.ErrUnknown) || errors.Is(err, agent.ErrExpired) && !there[r.ID()]
		if err != nil && !dropped {
			return withAdvice(r, err)
		}
	}
	return nil
}

// CatchUp lets an agent of a Spec learn from the records that its log has got since, before a number. The agent must
// have the log's arms. was is the Spec that gives the numbers in the first of these records their meaning.
func CatchUp(ctx context.Context, a *agent.Agent, spec api.Spec, later func() Records, was api.Spec, before uint64) error {
	l := &Log{all: later, arms: a.Arms().Names, changed: true, context: was.Context, action: was.Action}
	return learnFrom(ctx, a, l.RecordsFor(spec), before, false)
}

// withAdvice adds to the error of a record what to change in the file of a Spec.
func withAdvice(r journal.Record, err error) error {
	switch {
	case errors.Is(err, agent.ErrExpired):
		return fmt.Errorf("%w, and its reward came later: raise pending in the agent's file", err)
	case errors.Is(err, agent.ErrReward) && r.Feedback != nil && r.Feedback.Weight != 1:
		return weighted(r.Number, r.Feedback.ID, r.Feedback.Weight)
	case errors.Is(err, agent.ErrReward) && r.Settled != nil && r.Settled.Weight != 1:
		return weighted(r.Number, r.Settled.ID, r.Settled.Weight)
	}
	return err
}

// SaveNew saves an agent without a log and its Spec in a new folder, which a server can open.
func SaveNew(a *agent.Agent, spec api.Spec, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := a.Save(filepath.Join(dir, agentfile.AgentFile)); err != nil {
		return err
	}
	return agentfile.Save(dir, spec)
}

// weighted returns the error of a reward with a weight that the learner cannot use.
func weighted(number uint64, id string, weight float32) error {
	return fmt.Errorf("record %d: the reward of decision %s has weight %v, and the learner in the agent's file counts "+
		"each reward once: choose another learner", number, id, weight)
}
