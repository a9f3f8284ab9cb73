package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// Journal keeps records in their order, and says when they are safe: durable.Log is one. Its methods are safe for
// concurrent use.
type Journal interface {
	// Append gives records their places, all of them or none. wait returns when they are safe, or cannot be.
	Append(records ...journal.Record) (first uint64, wait func() error, err error)
	// Next is the number of the record that comes next.
	Next() uint64
	// Sync returns when all records are safe.
	Sync() error
	// All returns the records from a number on.
	All(from uint64) iter.Seq2[journal.Record, error]
}

// ErrLog says that the agent's log failed: what was asked for may be lost when the program ends. The agent decides and
// learns no more until it is opened again.
var ErrLog = errors.New("the agent's log failed")

// Open returns the agent of a file that Save has written, or a new one where there is no file, with what its log has
// since. From then on the log has what the agent decides and learns: Decide, Observe, Add and Learn return when it is
// safe there. So an agent whose program or machine stops at any time loses nothing that it has acknowledged.
//
// The agent is that of an uninterrupted program that did what the log says, in its order: it goes on with the same
// decisions. Save may be called at any time; the log's records before the last Save are not read any more. The Config is
// that of the first time, also where arms have changed since (see [Agent.ChangeArms]): the log and the file have that.
//
// The error is one of Load, or says what does not fit: a log that lacks records after the file was saved, one that
// lacks its first records where there is no file, or a file that was saved without the log. Where the file is damaged
// (ErrDamaged), and the log has all records since record 0, move the file away: Open then makes the agent from the log.
// So the error says. The exception is an agent that was given the log by Continue: its records are another agent's.
func Open(c Config, path string, log Journal) (*Agent, error) {
	if log == nil {
		return nil, errors.New("Open needs a log; use New or Load for an agent without one")
	}
	a, from, err := opened(c.withDefaults(), path, log)
	if err != nil {
		return nil, err
	}
	if err := a.replayed(log, from); err != nil {
		a.drop()
		return nil, fmt.Errorf("replaying the log: %w", err)
	}
	a.log, a.replays = log, false
	a.start()
	a.background.wake()
	return a, nil
}

// opened is the agent of the file, or a new one, and the number of the first record that it has not seen.
func opened(c Config, path string, log Journal) (a *Agent, from uint64, err error) {
	_, err = os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		a, err = newAgent(c)
		return a, 0, err
	}
	a, f, err := load(c, path, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("loading %s: %w", path, cured(err, log))
	}
	next := log.Next()
	switch {
	case f.Log == nil && next > 0:
		err = fmt.Errorf("%s was saved without the log, which has %d records: take the file that belongs to it, or "+
			"another folder for the log", path, next)
	case f.Log != nil && *f.Log > next:
		err = fmt.Errorf("%s was saved at record %d of its log, and the log ends at %d: take the log that belongs to it",
			path, *f.Log, next)
	case f.Log != nil:
		from = *f.Log
	}
	if err != nil {
		a.drop()
		return nil, 0, err
	}
	return a, from, nil
}

// cured adds to the error of a damaged file what to do, with the log that belongs to it or nil.
func cured(err error, log Journal) error {
	switch {
	case !errors.Is(err, ErrDamaged) || errors.Is(err, saved.ErrFolder):
		return err
	case log != nil && complete(log):
		return fmt.Errorf("%w; its log has all records since the first: move the file away, and the agent is made from the "+
			"log", err)
	case errors.Is(err, saved.ErrOldFormat):
		return err
	}
	return fmt.Errorf("%w; use an earlier file, or a backup", err)
}

// complete tells whether a log has its first record, and so all.
func complete(log Journal) bool {
	for r, err := range log.All(0) {
		return err == nil && r.Number == 0
	}
	return false
}

// drop frees an agent that nobody has seen.
func (a *Agent) drop() { a.now.drop() }

// replayed applies the records of a log from a number on.
func (a *Agent) replayed(log Journal, from uint64) error {
	next := from
	for r, err := range log.All(from) {
		if err == nil && r.Number != next {
			err = fmt.Errorf("its records %d to %d are missing", next, r.Number-1)
		}
		if err == nil {
			err = a.Replay(r)
		}
		if err != nil {
			return err
		}
		next++
	}
	return nil
}

// Replay does what a record says, at its time: an agent that replays all records of a log is the agent that wrote them,
// if it has the same Config. Of another Config it learns what the log's agent was told; it must have the arms that the
// log has, or be one that adds them (see [Agent.ChangeArms]). A Decision without an Input has
// the one that this agent's Encoding gives it. From the first record on decisions are settled by the log alone, and by
// time again after Continue, or when the agent's file is opened: see [Reward].
//
// The error is that of the method that wrote the record. It says so where the agent has a log of its own.
func (a *Agent) Replay(r journal.Record) error {
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

// replayFeedback learns from a reward, or keeps it, as the record says, whatever this agent makes of rewards.
func (a *Agent) replayFeedback(f *journal.Feedback, at time.Time) error {
	a.learning.Lock()
	defer a.learning.Unlock()
	w, err := a.pending.look(f.ID, time.Time{})
	if err != nil || w.counted {
		return err
	}
	if f.Kept {
		_, err = a.kept(w, Feedback{f.ID, f.Reward, f.Weight}, a.config.Reward.Combine.with(w.outcome, f.Reward), at)
	} else {
		_, err = a.settled(journal.Record{}, w, journal.Settled{ID: f.ID, Reward: f.Reward, Weight: f.Weight})
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
	m, f := Menu{Context: d.Context, Actions: d.Actions, Arms: d.Arms}, a.viewed()
	x := d.Input
	if x == nil {
		inputs, err := f.encoded(m, true)
		if err != nil {
			return err
		}
		if inputs != nil && d.Action >= len(inputs) {
			return fmt.Errorf("decision %s: action %d of %d", d.ID, d.Action, len(inputs))
		}
		x = inputOf(inputs, d.Action)
	}
	if err := f.checkInput(x); err != nil {
		return err
	}
	if a.decisions.Load() <= number {
		a.decisions.Store(number + 1)
	}
	f.encoder.count(m)
	a.pending.put(waiting{number: number, salt: salt, made: at, x: x, outcome: outcome{Hidden: d.Deferred}})
	return nil
}

// commit appends a record and makes the change that it is of, or neither. The caller calls wait when it holds no lock.
func (a *Agent) commit(r journal.Record, change func()) (wait func() error, err error) {
	a.committing.Lock()
	defer a.committing.Unlock()
	wait = func() error { return nil }
	if a.log != nil {
		safe := wait
		if _, safe, err = a.log.Append(r); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrLog, err)
		}
		wait = func() error {
			if err := safe(); err != nil {
				return fmt.Errorf("%w: %w", ErrLog, err)
			}
			return nil
		}
	}
	change()
	return wait, nil
}

// committed remembers a decision, and has the log's word that it is safe.
func (a *Agent) committed(f *form, d Decision, m Menu, w waiting) (Decision, error) {
	if f.reader != nil {
		return d, nil
	}
	d.ID, w.Hidden = w.id(), m.Deferred
	r := journal.Record{Time: w.made.UnixNano(), Decision: &journal.Decision{
		ID: d.ID, Context: m.Context, Actions: m.Actions, Arms: m.Arms,
		Action: d.Action, Probabilities: d.Probabilities, Input: w.x, Deferred: m.Deferred,
	}}
	if err := a.makeRoom(w.number, w.made); err != nil {
		return Decision{}, err
	}
	first := false
	wait, err := a.commit(r, func() {
		a.encoder.count(m)
		first = a.pending.put(w)
	})
	if first {
		a.settler.wake()
	}
	if err == nil {
		err = wait()
	}
	if err != nil {
		return Decision{}, err
	}
	if m.Deferred {
		a.settlements.deferred.Add(1)
	}
	return d, nil
}

// Continue gives an agent without a log one whose records it has replayed, all of them but those of training: from then
// on the log has what it decides and learns, as after Open. Nothing else may use the log meanwhile.
func (a *Agent) Continue(log Journal) error {
	a.learning.Lock()
	defer a.learning.Unlock()
	a.committing.Lock()
	defer a.committing.Unlock()
	if a.log != nil || a.reader != nil {
		return errors.New("an agent that has a log, or a Reader, cannot continue another log")
	}
	a.log, a.replays = log, false
	a.settler.wake()
	return nil
}

// synced waits for all that the log has.
func (a *Agent) synced() error {
	if a.log == nil {
		return nil
	}
	if err := a.log.Sync(); err != nil {
		return fmt.Errorf("%w: %w", ErrLog, err)
	}
	return nil
}
