package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// Journal keeps records in their order, and reports when they are safe on disk; durable.Log is an implementation. Its
// methods are safe for concurrent use.
type Journal interface {
	// Append adds all records, or none, in their order. wait returns when they are safe, or returns an error if they
	// cannot be made safe.
	Append(records ...journal.Record) (first uint64, wait func() error, err error)
	// Next returns the number of the next record.
	Next() uint64
	// Sync returns when all records are safe.
	Sync() error
	// All returns the records from a number onward.
	All(from uint64) iter.Seq2[journal.Record, error]
}

// ErrLog means that the agent's log failed: the change of this call may be lost when the program ends. The agent
// decides and learns no more until it is opened again.
var ErrLog = errors.New("the agent's log failed")

// Open returns the agent that Save wrote to a file, or a new agent if there is no file, and replays the records that
// its log has since then. From then on the log records what the agent decides and learns: Decide, Observe, Add and
// Learn return when their record is safe. So an agent loses nothing that it has acknowledged, even if its program or
// machine stops at any time. With a log of package durable the program ends if the disk fails to sync it: see
// durable.Options.Exit.
//
// The result equals the agent of an uninterrupted program that did what the log says, in the same order: it continues
// with the same decisions. Save may be called at any time; Open no longer reads the records from before the last Save.
// The Config must be the Config of the first Open, even if arms have changed since (see [Agent.ChangeArms]): the log
// and the file contain the change.
//
// The error is an error of Load, or says what does not match: the log lacks records from after the file was saved, the
// log lacks its first records and there is no file, or the file was saved without the log. If the file is damaged
// (ErrDamaged), the agent began with the log, and the log has all records from record 0 on, move the file away: Open
// then makes the agent from the log. The error says so. This does not work for an agent that was saved without a log
// before, because the log lacks what it had learned. It does not work either for an agent that got the log from
// Continue, because its records were written by another agent.
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

// opened returns the agent of the file, or a new agent, and the number of the first record that it has not seen.
func opened(c Config, path string, log Journal) (a *Agent, from uint64, err error) {
	_, err = os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		a, err = newAgent(c)
		return a, 0, err
	}
	a, f, err := load(c, path, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("loading %s: %w", path, withAdvice(err, log))
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

// withAdvice adds advice to the error of a damaged file. log is the log that belongs to the file, or nil.
func withAdvice(err error, log Journal) error {
	if !errors.Is(err, ErrDamaged) || errors.Is(err, saved.ErrFolder) {
		return err
	}
	all, first := complete(log)
	switch {
	case all && first:
		return fmt.Errorf("%w; its log has all records since the first: if the agent began with this log, move the file "+
			"away, and the agent is made from the log; otherwise use an earlier file, or a backup", err)
	case errors.Is(err, saved.ErrOldFormat):
		return err
	case all:
		return fmt.Errorf("%w; its log lacks what the agent had learned before the log began: use an earlier file, or a "+
			"backup, or make the agent again, as by hyper replay", err)
	}
	return fmt.Errorf("%w; use an earlier file, or a backup", err)
}

// complete reports whether a log still has its first record, and therefore all of them, and whether the log can have
// begun with an agent: its decisions then include number 0.
func complete(log Journal) (all, first bool) {
	if log == nil {
		return false, false
	}
	first = true
	for r, err := range log.All(0) {
		if err != nil || !all && r.Number != 0 {
			return false, false
		}
		all = true
		if r.Decision != nil {
			number, _, err := parseID(r.Decision.ID)
			if first = err == nil && number == 0; first {
				break
			}
		}
	}
	return all, first
}

// drop frees the state of an agent that was not returned to a caller.
func (a *Agent) drop() { a.now.drop() }

// replayed applies the records of a log from a number onward.
func (a *Agent) replayed(log Journal, from uint64) error {
	next := from
	for r, err := range log.All(from) {
		if err == nil && r.Number != next {
			err = fmt.Errorf("its records %d to %d are missing", next, r.Number-1)
		}
		if err == nil {
			err = a.Apply(r)
		}
		if err != nil {
			return err
		}
		next++
	}
	return nil
}

// commit appends a record and makes the change that it records, or does neither. The caller must call wait after it has
// released its locks.
func (a *Agent) commit(r journal.Record, change func()) (wait func() error, err error) {
	a.committing.Lock()
	defer a.committing.Unlock()
	wait = func() error { return nil }
	if a.log != nil {
		safe := wait
		if _, safe, err = a.log.Append(r); errors.Is(err, journal.ErrTooLarge) {
			return nil, err
		} else if err != nil {
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

// commitDecision remembers a decision, and returns it when its record is safe.
func (a *Agent) commitDecision(f *form, d Decision, m Menu, w waiting) (Decision, error) {
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

// Continue gives a log to an agent without a log. The agent must have replayed all records of the log, except records
// of training. From then on the log records what the agent decides and learns, as after Open. No other code may use the
// log during the call.
func (a *Agent) Continue(log Journal) error {
	a.learning.Lock()
	defer a.learning.Unlock()
	a.committing.Lock()
	defer a.committing.Unlock()
	if a.log != nil || a.reader != nil {
		return errors.New("an agent with a log, or a Reader, cannot continue another log")
	}
	a.log, a.replays = log, false
	a.settler.wake()
	return nil
}

// syncLog waits until all records of the log are safe.
func (a *Agent) syncLog() error {
	if a.log == nil {
		return nil
	}
	if err := a.log.Sync(); err != nil {
		return fmt.Errorf("%w: %w", ErrLog, err)
	}
	return nil
}
