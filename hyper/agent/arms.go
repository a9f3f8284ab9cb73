package agent

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

// ErrLearnAnew means that the belief of an agent has no separate part for each arm, so that no arm can be added to it.
// A new agent with more arms can learn from the log instead (see [Agent.Apply]).
var ErrLearnAnew = errors.New("the learner has no separate belief for each arm: make an agent with more arms, and let " +
	"it learn from the log")

// Arms returns a copy of the agent's arms, which the caller may change. It returns a zero ArmSet if actions are not
// arms.
func (a *Agent) Arms() ArmSet { return a.currentForm().set.copied() }

// AddArm adds an arm, offers it, and returns its number. The new arm starts with the belief of the arm like, or with
// the prior if like is None. See [Agent.ChangeArms].
func (a *Agent) AddArm(like int) (arm int, err error) {
	set := a.Arms()
	arm = len(set.Like)
	set.Like, set.Offered = append(set.Like, like), append(set.Offered, arm)
	if len(set.Names) > 0 {
		set.Names = append(set.Names, fmt.Sprint("arm ", arm))
	}
	return arm, a.ChangeArms(set)
}

// RemoveArm stops offering an arm. The belief about the arm stays: see [Agent.ChangeArms].
func (a *Agent) RemoveArm(arm int) error {
	set := a.Arms()
	at := slices.Index(set.Offered, arm)
	if at < 0 {
		return fmt.Errorf("arm %d is not offered; the offered arms are %v", arm, set.Offered)
	}
	set.Offered = slices.Delete(set.Offered, at, at+1)
	return a.ChangeArms(set)
}

// ChangeArms replaces the arms. next is what [Agent.Arms] returned, with new arms at the end of Like; Offered lists the
// arms to offer from now on, in any order. The belief about the other arms stays the same to the byte. (The exception
// is an agent with one arm: its belief moves from programs to plain Go, and changes by rounding.) Decisions under way
// still choose among the earlier arms. A Menu may still name arms that are not offered. The log records the change, and
// the file that Save writes contains it. Open and Load still need the Config that the agent was made with.
//
// Any agent of arms may offer fewer arms, or all arms again. Arms can be added to agents made by [Contextual] and
// [Arms], whose belief has a separate part for each arm; for other agents the error wraps ErrLearnAnew. Otherwise the
// error is ErrLog or ErrClosed, or says what is wrong with the arms. After an error the agent is unchanged.
func (a *Agent) ChangeArms(next ArmSet) error {
	change, err := a.PrepareArms(next)
	if err != nil {
		return err
	}
	return change()
}

// PrepareArms is ChangeArms in two steps, for a service whose decisions wait during the change. PrepareArms makes the
// new arms and compiles their programs while the agent continues. The function change then makes the change; it takes
// as long as copying the belief. Call change at most once. It returns an error if the arms have changed since
// PrepareArms.
func (a *Agent) PrepareArms(next ArmSet) (change func() error, err error) {
	next = next.copied()
	changes, f := a.armChanges.Load(), a.currentForm()
	if f.reader != nil {
		return nil, errors.New("the arms of a Reader come from the file that it reads, and cannot be changed")
	}
	if err := f.set.checkNext(next); err != nil {
		return nil, err
	}
	var wider *Agent
	if n := len(next.Like); n > len(f.set.Like) {
		c, ok := f.config.withArms(n)
		if !ok {
			return nil, fmt.Errorf("adding arms: %w", ErrLearnAnew)
		}
		if wider, err = newAgent(c); err != nil {
			return nil, fmt.Errorf("adding arms: %w", err)
		}
		if err := wider.Warmup(f.programs.sizes(len(next.Offered))...); err != nil {
			wider.drop()
			return nil, fmt.Errorf("adding arms: %w", err)
		}
	}
	return func() error {
		defer a.background.wake()
		if wider != nil {
			defer wider.drop()
		}
		return waited(a.changeArms(changes, wider, next, time.Now()))
	}, nil
}

// changeArms changes the arms, if the number of changes so far is still changes. wider is a new agent with all arms; it
// is nil if no arm is added.
func (a *Agent) changeArms(changes uint64, wider *Agent, next ArmSet, at time.Time) (wait func() error, err error) {
	a.learning.Lock()
	defer a.learning.Unlock()
	switch {
	case a.closed:
		return nil, ErrClosed
	case a.armChanges.Load() != changes:
		return nil, errors.New("the arms have changed since they were read: call Agent.Arms, and change them again")
	}
	f, s := *a.form, a.current()
	f.set = next
	if wider != nil {
		own, err := a.widened(s, wider.form, wider.now, next.Like)
		s.drop()
		if err != nil {
			return nil, fmt.Errorf("adding arms: %w", err)
		}
		f, s = *wider.form, own
		f.made, f.set, f.steps = a.made, next, append(slices.Clone(a.steps), len(next.Like))
		if f.encoder != nil {
			f.encoder.seen = a.encoder.seen
		}
	}
	last := a.form
	r := journal.Record{Time: at.UnixNano(),
		Arms: &journal.Arms{Like: next.Like, Offered: next.Offered, Names: next.Names, Was: len(a.set.Like)}}
	if wait, err = a.commit(r, func() { a.replaceForm(&f, s) }); err != nil {
		s.drop()
	} else if wider != nil {
		last.end()
	}
	return wait, err
}

// end frees the programs of a form that the agent no longer uses. Decisions under way keep their programs until they
// finish.
func (f *form) end() {
	for _, u := range []*update{f.observe, f.keep, f.train, f.revise.update} {
		if u != nil {
			u.exec.Finalize()
		}
	}
	f.programs.end()
}

// replaceForm makes f and its state s the agent's form and state.
func (a *Agent) replaceForm(f *form, s *snapshot) {
	a.reading.Lock()
	last := a.now
	a.form, a.now = f, s
	a.reading.Unlock()
	a.armChanges.Add(1)
	last.drop()
}

// replayArms applies a change of arms from a log. It ignores arms that another agent added by learning anew from the
// log, if this agent cannot add arms.
func (a *Agent) replayArms(r *journal.Arms) error {
	next := a.Arms()
	n := len(next.Like)
	if len(r.Like) > n && r.Anew && !a.config.AddsArms() {
		return nil
	}
	if len(r.Like) > n { // the first n entries of this agent's own Like stay
		next.Like = append(next.Like, r.Like[n:]...)
	}
	next.Offered = r.Offered
	if len(r.Names) == len(next.Like) {
		next.Names = r.Names
	}
	change, err := a.PrepareArms(next)
	if err != nil {
		return err
	}
	return change()
}
