package agent

import (
	"errors"
	"fmt"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

// Apply applies a record at its recorded time. An agent that applies all records of a log, and has the same Config,
// equals the agent that wrote them. An agent with another Config learns from the same decisions and rewards; it must
// have the arms of the log, or be able to add them (see [Agent.ChangeArms]). If a Decision has no Input, this agent's
// Encoding computes the input. From the first applied record on, only the log settles decisions. The clock settles
// them again after Continue, or when the agent's file is opened: see [Reward].
//
// The error is the error of the method that wrote the record. Apply also returns an error if the agent has a log of
// its own.
func (a *Agent) Apply(r journal.Record) error {
	if a.log != nil {
		return errors.New("an agent with a log of its own cannot replay another")
	}
	a.learning.Lock()
	a.replays = true
	a.learning.Unlock()
	at := time.Unix(0, r.Time)
	var err error
	switch {
	case r.Decision != nil:
		err = a.replayDecision(r.Decision, at)
	case r.Feedback != nil:
		err = a.replayFeedback(r.Feedback, at)
	case r.Shown != nil:
		_, err = a.show(r.Shown.ID, at)
	case r.Settled != nil:
		err = a.replaySettled(*r.Settled)
	case r.Arms != nil:
		err = a.replayArms(r.Arms)
	case r.Datum != nil:
		_, err = a.learn(journal.Record{}, a.added(r.Datum.Input, r.Datum.Response, 1))
	case r.Trained != nil:
		for range r.Trained.Rounds {
			if _, err = a.learn(journal.Record{}, a.trained); err != nil {
				break
			}
		}
	}
	if err != nil {
		return fmt.Errorf("record %d: %w", r.Number, err)
	}
	return nil
}

// replayFeedback learns from a reward, or keeps it, as the record says. The Config.Reward of this agent does not
// matter.
func (a *Agent) replayFeedback(f *journal.Feedback, at time.Time) error {
	a.learning.Lock()
	defer a.learning.Unlock()
	w, err := a.pending.lookUp(f.ID, time.Time{})
	if err != nil || w.counted {
		return err
	}
	if f.Kept {
		_, err = a.keepReward(w, Feedback{f.ID, f.Reward, f.Weight}, a.config.Reward.Combine.with(w.outcome, f.Reward), at)
	} else {
		_, err = a.learnReward(journal.Record{}, w, journal.Settled{ID: f.ID, Reward: f.Reward, Weight: f.Weight})
	}
	if err != nil {
		err = fmt.Errorf("reward of decision %s: %w", f.ID, err)
	}
	return err
}

// replayDecision remembers a decision.
func (a *Agent) replayDecision(d *journal.Decision, at time.Time) error {
	number, salt, err := parseID(d.ID)
	if err != nil {
		return err
	}
	m, f := Menu{Context: d.Context, Actions: d.Actions, Arms: d.Arms}, a.currentForm()
	x := d.Input
	if x == nil {
		inputs, err := f.encoded(m, true)
		if err != nil {
			return err
		}
		if inputs != nil && d.Action >= len(inputs) {
			return fmt.Errorf("decision %s: action %d is not one of its %d actions", d.ID, d.Action, len(inputs))
		}
		x = inputOf(inputs, d.Action)
	}
	if err := f.checkInput(x); err != nil {
		return err
	}
	raiseTo(&a.decisions, number+1)
	f.encoder.count(m)
	a.pending.put(waiting{number: number, salt: salt, made: at, x: x, outcome: outcome{Hidden: d.Deferred}})
	return nil
}
