package agent

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// ErrDamaged means that a file is not as Save wrote it: it is empty, truncated, changed, or not a file of an agent.
var ErrDamaged = saved.ErrDamaged

// Load returns the agent that was saved to a file, given the configuration that it was made with. It continues exactly
// as the saved agent would have, except for the IDs of its decisions, which are partly random.
//
// Load refuses a configuration that differs from the configuration in the file; the error wraps ErrOtherConfig and
// names the fields. Fields that control how the agent runs may differ: Backend, Background, Expire, Reward and Pending.
// If Pending is smaller than before, the oldest decisions expire. Learner.Train.Capacity may be larger; a reservoir
// that has dropped data keeps its size. Initializers are functions and cannot be compared; Load compares what they drew
// instead, the agent's initial parameters and prior. It does not compare other functions. The error wraps ErrDamaged if
// the file is not as Save wrote it: use an earlier file then, or a backup.
func Load(c Config, path string) (*Agent, error) { return loaded(c, path, "loading "+path) }

// loaded is Load with another beginning of its errors.
func loaded(c Config, path, what string) (*Agent, error) {
	a, _, err := load(c.withDefaults(), path, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, withAdvice(err, nil))
	}
	a.start()
	a.background.wake()
	return a, nil
}

// ErrOtherConfig means that a file was saved by an agent with a different configuration.
var ErrOtherConfig = errors.New("it was saved by an agent with a different configuration")

// Check reports why Load would refuse a file with a configuration, as far as the header of the file shows it. The error
// wraps ErrOtherConfig if the configuration is different.
func Check(c Config, path string) error {
	var f file
	err := saved.Read(path, &f, nil)
	if err == nil {
		err = f.check(c.withDefaults())
	}
	if err != nil {
		return fmt.Errorf("checking %s: %w", path, err)
	}
	return nil
}

// load is Load without starting the background learner; it also returns the header. reader is the value of form.reader.
func load(c Config, path string, reader *uint64) (a *Agent, f file, err error) {
	if err := saved.Read(path, &f, nil); err != nil {
		return nil, f, err
	}
	if err := f.check(c); err != nil {
		return nil, f, err
	}
	if a, err = newAgent(c); err != nil {
		return nil, f, err
	}
	a.reader, a.closed = reader, reader != nil
	if f, err = a.restore(path); err != nil {
		a.drop()
	}
	return a, f, err
}

// restore gives the agent the state in a file; after an error the agent is unchanged. The caller holds a.learning, or
// is the only user of the agent.
func (a *Agent) restore(path string) (f file, err error) {
	var state []*tensors.Tensor
	if err := saved.Read(path, &f, &state); err != nil {
		return f, err
	}
	err = f.check(a.made)
	to, own := a.form, (*snapshot)(nil)
	if err == nil {
		to, own, err = a.formOf(f)
	}
	var waiting []waiting
	if err == nil {
		waiting, err = to.accepts(f, own, &state)
		own.drop()
	}
	if err != nil {
		free(state...)
		return f, err
	}
	s, err := a.fromFile(f, to, state)
	if err != nil {
		return f, err
	}
	if err := errors.Join(to.absorb(s), s.upload(a.backend)); err != nil {
		s.drop()
		return f, err
	}
	last := a.form
	if a.replaceForm(to, s); last != to {
		last.end()
	}
	a.encoder.restore(f.Context, f.Action)
	raiseTo(&a.decisions, f.Decisions)
	raiseTo(&a.samples, f.Samples)
	a.pending.restore(waiting, f.Decisions)
	return f, nil
}

// fromFile returns the snapshot of a file with the given state, in the form to, with room for the agent's capacity.
func (a *Agent) fromFile(f file, to *form, state []*tensors.Tensor) (*snapshot, error) {
	if a.reader != nil {
		i := a.place(seed)
		own := tensors.FromFlatDataAndDimensions([]uint64{*a.reader}, state[i].Shape().Dimensions...)
		free(state[i])
		state[i] = own
	}
	s := newSnapshot(state)
	s.data, s.rounds = f.Data, f.Rounds
	if f.Change != nil {
		s.change = *f.Change
	}
	rows := a.config.rows()
	if rows <= f.Data.Rows || a.config.Replay != Window && f.Data.Seen != f.Data.Kept {
		return s, nil
	}
	defer s.drop()
	return to.resized(s, rows)
}

// raiseTo raises a count to at least n. It is safe for concurrent use.
func raiseTo(count *atomic.Uint64, n uint64) {
	for {
		if now := count.Load(); now >= n || count.CompareAndSwap(now, n) {
			return
		}
	}
}

// formOf returns the form of the agent in a file, and a state of that form, which the caller drops.
func (a *Agent) formOf(f file) (*form, *snapshot, error) {
	set := newArms(a.set.First)
	if f.Arms != nil {
		set = *f.Arms
	}
	if reflect.DeepEqual(set, a.set) {
		return a.form, a.current(), nil
	}
	if !set.valid() || set.First != a.set.First || len(set.Like) != max(set.First, slices.Max(append(f.Grown, 0))) {
		return nil, nil, fmt.Errorf("%w: its arms are %+v", saved.ErrDamaged, set)
	}
	to, own, err := a.rebuilt(set, f.Grown)
	if err == nil && to.encoder != nil {
		to.encoder.seen = a.encoder.seen
	}
	return to, own, err
}
