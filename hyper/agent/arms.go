package agent

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/base"
)

// ArmSet describes the arms of an agent. An arm keeps its number for ever. An arm that is no longer offered keeps its
// belief and learns from late rewards; it continues with that belief if it is offered again.
type ArmSet struct {
	First int // number of arms that the agent was made with: arms 0 to First-1
	// Like has an entry for each arm, including arms that are no longer offered: the number of the arm whose belief it
	// started with, or None if it started with the prior.
	Like []int
	// Offered lists the arms that a decision chooses among if its Menu names none.
	Offered []int
	// Names has a name for each arm, or is empty. The agent stores the names and does not use them.
	Names []string
}

// ErrLearnAnew means that the belief of an agent has no separate part for each arm, so that no arm can be added to it.
// A new agent with more arms can learn from the log instead (see [Agent.Replay]).
var ErrLearnAnew = errors.New("the learner has no separate belief for each arm: make an agent with more arms, and let " +
	"it learn from the log")

// newArms returns the arms of a new agent with n arms.
func newArms(n int) ArmSet {
	if n == 0 {
		return ArmSet{}
	}
	return ArmSet{First: n, Like: slices.Repeat([]int{None}, n), Offered: allArms(n)}
}

// Arms returns a copy of the agent's arms, which the caller may change. It returns a zero ArmSet if actions are not
// arms.
func (a *Agent) Arms() ArmSet { return a.currentForm().set.copied() }

func (s ArmSet) copied() ArmSet {
	return ArmSet{s.First, slices.Clone(s.Like), slices.Clone(s.Offered), slices.Clone(s.Names)}
}

// Whole reports whether all arms are offered, in the order of their numbers.
func (s ArmSet) Whole() bool { return slices.Equal(s.Offered, allArms(len(s.Like))) }

// checkNext returns an error if the arms cannot change from s to next.
func (s ArmSet) checkNext(next ArmSet) error {
	n := len(s.Like)
	switch {
	case n == 0:
		return errors.New("the agent has no arms: its actions have numbers, and may differ from decision to decision")
	case len(next.Like) < n || !slices.Equal(next.Like[:n], s.Like):
		return fmt.Errorf("Like must begin with the Like of the %d existing arms, %v, got %v", n, s.Like, next.Like)
	case len(next.Offered) == 0:
		return errors.New("Offered must have at least one arm")
	case len(next.Names) > 0 && len(next.Names) != len(next.Like):
		return fmt.Errorf("Names must be empty, or have one for each of the %d arms, got %d", len(next.Like),
			len(next.Names))
	case next.First != s.First:
		return fmt.Errorf("First must stay %d, got %d", s.First, next.First)
	}
	for arm, like := range next.Like[n:] {
		if like != None && (like < 0 || like >= n) {
			return fmt.Errorf("arm %d cannot begin like arm %d: want one of 0 to %d, or None", n+arm, like, n-1)
		}
	}
	given := make([]bool, len(next.Like))
	for _, arm := range next.Offered {
		if arm < 0 || arm >= len(given) || given[arm] {
			return fmt.Errorf("Offered must be different arms of 0 to %d, got %v", len(given)-1, next.Offered)
		}
		given[arm] = true
	}
	return nil
}

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

// valid reports whether arms from a file are possible.
func (s ArmSet) valid() bool {
	ok := len(s.Names) == 0 || len(s.Names) == len(s.Like)
	for arm, like := range s.Like {
		ok = ok && (like == None || like >= 0 && like < arm)
	}
	return ok && s.First > 0 && s.checkNext(s) == nil
}

// slots returns the number of arms, including arms that are not offered; it returns 0 if actions are not arms.
func (f *form) slots() int {
	switch e := f.config.Encoding; {
	case e != nil:
		return e.Arms
	case f.config.Features == 0:
		return f.arms
	}
	return 0
}

// AddsArms reports whether arms can be added to an agent of the Config: see [Agent.ChangeArms].
func (c Config) AddsArms() bool {
	_, ok := c.withDefaults().withArms(1)
	return ok
}

// withArms returns the Config with n arms; ok is false if its arms have no separate beliefs.
func (c Config) withArms(n int) (wider Config, ok bool) {
	if e := c.Encoding; e != nil {
		b, is := c.Learner.Belief.(hyper.BayesianLinear)
		if !is || !b.Numbered || e.Code != AsNumber || e.Arms != max(b.Blocks, 1) {
			return c, false
		}
		own := *e
		own.Arms, b.Blocks = n, n
		c.Encoding, c.Learner.Belief = &own, b
		return c, true
	}
	of := func(n int) hyper.Belief { return Config{}.Arms(n).withDefaults().Learner.Belief }
	m, _ := c.Learner.Belief.(hyper.Model)
	table, is := m.Base.(base.Tabular)
	if !is || c.Features > 0 || table.Arms < 1 || !reflect.DeepEqual(c.Learner.Belief, of(table.Arms)) {
		return c, false
	}
	c.Learner.Belief = of(n)
	return c, true
}

// rebuilt returns a form made from the same Config whose arms have become set in steps, and its initial state.
func (f *form) rebuilt(set ArmSet, steps []int) (*form, *snapshot, error) {
	out, s, err := newForm(f.made, f.backend)
	if err != nil {
		return nil, nil, err
	}
	out.set = newArms(out.slots())
	for _, n := range steps {
		c, ok := out.config.withArms(n)
		if !ok || n > len(set.Like) || n <= out.slots() {
			s.drop()
			return nil, nil, fmt.Errorf("%d arms after %d, of %T", n, out.slots(), f.config.Learner.Belief)
		}
		wider, fresh, err := newForm(c, f.backend)
		if err != nil {
			s.drop()
			return nil, nil, err
		}
		next, err := out.widened(s, wider, fresh, set.Like[:n])
		s.drop()
		fresh.drop()
		if err != nil {
			return nil, nil, err
		}
		out, s = wider, next
	}
	out.made, out.steps, out.reader = f.made, steps, f.reader
	if len(set.Like) > 0 {
		out.set = set
	}
	return out, s, nil
}

// widened converts the state s to a form with more arms. fresh is the initial state of that form. Existing arms keep
// their parts of s. A new arm gets the parts of the arm in its like entry, or the parts of fresh.
func (f *form) widened(s *snapshot, wider *form, fresh *snapshot, like []int) (*snapshot, error) {
	before, err := f.wholeOf(s, nil)
	if err != nil {
		return nil, err
	}
	defer before.drop()
	more, err := wider.wholeOf(fresh, nil)
	if err != nil {
		return nil, err
	}
	defer more.drop()
	next := before.replaced(nil, nil)
	next.setLearned(nil)
	for i, name := range f.names {
		was, is := before.state[i].Tensor, more.state[i].Tensor
		if name.Replayed() || was.Shape().Equal(is.Shape()) {
			continue
		}
		t, err := withParts(was, is, f.slots(), like)
		if err != nil {
			next.drop()
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		next.state[i].drop()
		next.state[i] = (&shared{Tensor: t}).hold()
	}
	if err := errors.Join(wider.absorb(next), next.upload(f.backend)); err != nil {
		next.drop()
		return nil, err
	}
	return next, nil
}

// withParts returns a tensor of the shape of fresh with the parts of n arms from was. The parts lie side by side along
// one axis.
func withParts(was, fresh *tensors.Tensor, n int, like []int) (*tensors.Tensor, error) {
	axis, outer := -1, 1
	for i, size := range was.Shape().Dimensions {
		more := fresh.Shape().Dim(i)
		if size != more && axis < 0 && size%n == 0 && size/n*len(like) == more {
			axis = i
		} else if size != more {
			return nil, fmt.Errorf("arms have no parts of their own in %s and %s", was.Shape(), fresh.Shape())
		}
		if axis < 0 {
			outer *= size
		}
	}
	out := tensors.FromShape(shapes.Make(fresh.DType(), fresh.Shape().Dimensions...))
	var inner, last error
	err := was.ConstBytes(func(old []byte) {
		inner = fresh.ConstBytes(func(more []byte) {
			last = out.MutableBytes(func(data []byte) {
				part, all := len(old)/outer/n, len(data)/outer
				for o := range outer {
					own, own0 := data[o*all:(o+1)*all], old[o*n*part:(o+1)*n*part]
					copy(own, own0)
					for arm := n; arm < len(like); arm++ {
						from := more[o*all+arm*part:]
						if like[arm] != None {
							from = own0[like[arm]*part:]
						}
						copy(own[arm*part:(arm+1)*part], from)
					}
				}
			})
		})
	})
	return out, errors.Join(err, inner, last)
}

// listOffered lists the offered arms in a menu that names no arms. It does so only if some arms are not offered, or if
// they are offered in another order than their numbers; named is then true.
func (f *form) listOffered(m Menu) (out Menu, named bool) {
	if f.set.First == 0 || m.Arms != nil || m.Actions != nil || f.set.Whole() {
		return m, false
	}
	if f.encoder != nil {
		m.Arms = f.set.Offered
		return m, true
	}
	m.Actions = armInputs(f.set.Offered)
	return m, true
}

// byArm converts a decision among the offered arms: its Action becomes the number of the arm, and its Probabilities are
// indexed by that number.
func (f *form) byArm(d Decision) Decision {
	p := make([]float32, f.slots())
	for i, arm := range f.set.Offered {
		p[arm] = d.Probabilities[i]
	}
	d.Action, d.Probabilities = f.set.Offered[d.Action], p
	return d
}
