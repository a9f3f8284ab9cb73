package agent

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper/train"
)

// ErrNotFinite means that numbers are not finite, or that their squares are not finite in single precision. An agent
// never keeps such numbers: the method that returns this error leaves the agent unchanged.
var ErrNotFinite = errors.New("not finite")

// errDiverged is the ErrNotFinite of training.
var errDiverged = fmt.Errorf("%w: training diverges on these data, and the agent stays as it was; "+
	"make an agent with a smaller step size, or with clipped gradients, and give it the data without outliers",
	ErrNotFinite)

// shared is a tensor that states and calls of programs hold. The last holder frees it, because Go's garbage collector
// does not count the memory of XLA and would let it grow.
type shared struct {
	*tensors.Tensor
	holders atomic.Int32
}

func (t *shared) hold() *shared {
	t.holders.Add(1)
	return t
}

func (t *shared) drop() {
	if t.holders.Add(-1) == 0 {
		free(t.Tensor)
	}
}

// free frees tensors at once. It ignores errors, which only mean that a tensor is already free.
func free(all ...*tensors.Tensor) {
	for _, t := range all {
		_ = t.FinalizeAll()
	}
}

// snapshot is an immutable state. It holds its tensors until drop.
type snapshot struct {
	state   []*shared            // in the order of form.names; nil for a part that learned holds
	learned *train.HostPosterior // what the agent has learned in plain Go; nil if programs learn
	data    contents
	rounds  int // number of rounds of SGD steps so far
	host    *host
	change  detector
}

// newSnapshot returns a snapshot that holds new tensors.
func newSnapshot(state []*tensors.Tensor) *snapshot {
	s := &snapshot{state: make([]*shared, len(state)), host: new(host)}
	for i, t := range state {
		s.state[i] = (&shared{Tensor: t}).hold()
	}
	return s
}

// replaced returns a snapshot with new tensors at some places. It also holds the other tensors of s.
func (s *snapshot) replaced(at []int, by []*tensors.Tensor) *snapshot {
	next := &snapshot{state: make([]*shared, len(s.state)), learned: s.learned.Hold(), data: s.data, rounds: s.rounds,
		change: s.change, host: s.host}
	if len(at) > 0 {
		next.host = new(host)
	}
	for i, place := range at {
		next.state[place] = (&shared{Tensor: by[i]}).hold()
	}
	for i, t := range next.state {
		if t == nil && s.state[i] != nil {
			next.state[i] = s.state[i].hold()
		}
	}
	return next
}

// upload moves the tensors to the device of the programs. Tensors from a file are not there yet, and in GoMLX 0.28.2
// two concurrent calls must not move the same tensor: the second call may find it nowhere.
func (s *snapshot) upload(b compute.Backend) error {
	for _, t := range s.state {
		if t == nil {
			continue
		}
		if err := t.MaterializeOnDevice(b, b.HasSharedBuffers(), 0); err != nil {
			return err
		}
	}
	return nil
}

func (s *snapshot) drop() {
	s.learned.Drop()
	for _, t := range s.state {
		if t != nil {
			t.drop()
		}
	}
}

// tensors returns the tensors of a whole snapshot: see wholeOf.
func (s *snapshot) tensors() []*tensors.Tensor {
	out := make([]*tensors.Tensor, len(s.state))
	for i, t := range s.state {
		out[i] = t.Tensor
	}
	return out
}

// current returns the agent's state; the caller drops it.
func (a *Agent) current() *snapshot {
	_, s := a.held()
	return s
}

// held returns the agent's form and state; the caller drops the state.
func (a *Agent) held() (*form, *snapshot) {
	a.reading.Lock()
	defer a.reading.Unlock()
	return a.form, a.now.replaced(nil, nil)
}

// belief returns the agent's form, and the part of the state that Act and Sample read; the caller drops the state.
func (a *Agent) belief() (*form, *snapshot) {
	a.reading.Lock()
	defer a.reading.Unlock()
	return a.form, a.beliefOf(a.now)
}

// beliefOf returns the part of a state that Act and Sample read; the caller drops it.
func (a *form) beliefOf(s *snapshot) *snapshot {
	out := &snapshot{state: make([]*shared, len(a.read)), learned: s.learned.Hold(), host: s.host}
	for i, place := range a.read {
		if t := s.state[place]; t != nil {
			out.state[i] = t.hold()
		}
	}
	return out
}

// become makes s the agent's state. The old state is freed when its last reader is done.
func (a *Agent) become(s *snapshot) {
	a.reading.Lock()
	last := a.now
	a.now = s
	a.reading.Unlock()
	if last != nil {
		last.drop()
	}
}

// allFinite reports whether all numbers of tensors are finite.
func allFinite(all []*tensors.Tensor) bool {
	for _, t := range all {
		var ok bool
		var err error
		switch t.DType() {
		case dtypes.Float32:
			err = tensors.ConstFlatData(t, func(v []float32) { ok = !slices.ContainsFunc(v, notFinite) })
		case dtypes.Float64:
			err = tensors.ConstFlatData(t, func(v []float64) { ok = !slices.ContainsFunc(v, notFinite) })
		default:
			ok = true
		}
		if err != nil || !ok {
			return false
		}
	}
	return true
}

func notFinite[T float32 | float64](v T) bool { return v-v != 0 }
