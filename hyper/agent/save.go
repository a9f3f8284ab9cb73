package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// format is the format of the files that Save writes; armsFormat is the format after a change of arms. Load also reads
// lastFormat, which has no decisions that wait for feedback.
const (
	armsFormat = "hypermodels agent 5"
	format     = "hypermodels agent 4"
	lastFormat = "hypermodels agent 3"
)

// file is the header of an agent's file; the state follows it.
type file struct {
	Format      string
	Version     string          // version of the module that wrote it
	Config      json.RawMessage // see describe
	Fingerprint string          // hash of Config
	Names       []train.Entry
	Data        contents
	Rounds      int
	Decisions   uint64
	Samples     uint64
	Context     *spread      `json:",omitempty"` // statistics of the Encoding's numbers, if it standardises
	Action      *spread      `json:",omitempty"`
	Change      *detector    `json:",omitempty"`
	Pending     []waitingRow // decisions that wait for feedback, without their inputs
	Log         *uint64      `json:",omitempty"` // number of the log's first record after this file
	Arms        *ArmSet      `json:",omitempty"` // set if arms have changed, or have names
	Grown       []int        `json:",omitempty"` // numbers of arms: see form.steps

	of *form // the form of the saved agent
}

// Save writes the agent and its configuration to a file. The write is atomic: if Save fails, the file is unchanged. The
// written state is always finite. The error is an error of the disk, or ErrLog.
func (a *Agent) Save(path string) error {
	err := a.save(func(f file, state []*tensors.Tensor) error { return saved.Write(path, f, state) })
	if err != nil {
		return fmt.Errorf("saving %s: %w", path, err)
	}
	return nil
}

// save passes the header and the state of the agent to write.
func (a *Agent) save(write func(f file, state []*tensors.Tensor) error) error {
	if a.currentForm().reader != nil {
		return errors.New("a Reader cannot be saved: it draws other random numbers than the agent whose file it reads")
	}
	now, f, waiting := a.whole()
	defer now.drop()
	description, err := describe(f.of.made)
	if err != nil {
		return err
	}
	var inputs []*tensors.Tensor
	f.Pending, inputs = saving(waiting)
	defer free(inputs...)
	f.Format, f.Version, f.Config, f.Fingerprint = format, hyper.Version, description, fingerprint(description)
	if f.Arms != nil {
		f.Format = armsFormat
	}
	if err := a.syncLog(); err != nil { // after a loss of power, the log must have all that the file has
		return err
	}
	s, err := f.of.wholeOf(now, nil)
	if err != nil {
		return err
	}
	defer s.drop()
	return write(f, slices.Concat(s.tensors(), inputs))
}

// whole returns the agent's state, the other contents of a file, and the decisions that the agent remembers, all from
// the same moment. The caller drops the state.
func (a *Agent) whole() (*snapshot, file, []waiting) {
	a.learning.Lock()
	defer a.learning.Unlock()
	a.committing.Lock()
	defer a.committing.Unlock()
	s, f := a.current(), file{of: a.form, Names: a.names, Decisions: a.decisions.Load(), Samples: a.samples.Load()}
	if !a.set.Whole() || len(a.steps) > 0 || len(a.set.Names) > 0 {
		f.Arms, f.Grown = &a.set, a.steps
	}
	f.Data, f.Rounds, f.Change = s.data, s.rounds, a.savedChange(s)
	f.Context, f.Action = a.encoder.spreads()
	if a.log != nil {
		next := a.log.Next()
		f.Log, f.Decisions = &next, a.pending.made() // a decision that is not in the log may be made again
	}
	return s, f, a.pending.all()
}

// ErrDamaged means that a file is not as Save wrote it: it is empty, truncated, changed, or not a file of an agent.
var ErrDamaged = saved.ErrDamaged

// Load returns the agent that was saved to a file, given the configuration that it was made with. It continues exactly
// as the saved agent would have, except for the IDs of its decisions, which are partly random.
//
// Load refuses a configuration that differs from the configuration in the file; the error wraps ErrOther and names the
// fields. Fields that control how the agent runs may differ: Backend, Background, Expire, Reward and Pending. If
// Pending is smaller than before, the oldest decisions expire. Learner.Train.Capacity may be larger; a reservoir that
// has dropped data keeps its size. Initializers are functions and cannot be compared; Load compares what they drew
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

// ErrOther means that a file was saved by an agent with a different configuration.
var ErrOther = errors.New("it was saved by an agent with a different configuration")

// Check reports why Load would refuse a file with a configuration, as far as the header of the file shows it. The error
// wraps ErrOther if the configuration is different.
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

// File is the header of a file that Save wrote.
type File struct {
	Arms ArmSet // zero if arms have not changed since the agent was made, and have no names
	Log  uint64 // number of the first record of the log that the file does not contain; 0 without a log
}

// ReadFile reads the header of a file. The error wraps fs.ErrNotExist, or ErrDamaged.
func ReadFile(path string) (out File, err error) {
	var f file
	if err := saved.Read(path, &f, nil); err != nil {
		return out, fmt.Errorf("reading %s: %w", path, err)
	}
	if f.Arms != nil && !f.Arms.valid() {
		return out, fmt.Errorf("reading %s: %w: its arms are %+v", path, saved.ErrDamaged, *f.Arms)
	}
	if f.Arms != nil {
		out.Arms = *f.Arms
	}
	if f.Log != nil {
		out.Log = *f.Log
	}
	return out, nil
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
	if rows := a.config.rows(); rows > f.Data.Rows && (a.config.Replay == Window || f.Data.Seen == f.Data.Kept) {
		last := s
		s, err = to.resized(last, rows)
		last.drop()
		if err != nil {
			return f, err
		}
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

// check compares the header of a file with a configuration.
func (f file) check(c Config) error {
	if c.fault != nil {
		return c.fault
	}
	if f.Format != armsFormat && f.Format != format && f.Format != lastFormat {
		return fmt.Errorf("its format is %q, and this version reads %q: make a new agent", f.Format, armsFormat)
	}
	if f.Fingerprint != fingerprint(f.Config) {
		return fmt.Errorf("%w: the fingerprint of the configuration is wrong", saved.ErrDamaged)
	}
	own, err := describe(c)
	if err != nil {
		return err
	}
	differ, err := differences(f.Config, own)
	if err != nil {
		return fmt.Errorf("%w: %w", saved.ErrDamaged, err)
	}
	if len(differ) > 0 {
		return fmt.Errorf("%w: %s", ErrOther, strings.Join(differ, "; "))
	}
	d := f.Data
	if f.Rounds < 0 || d.Kept < 0 || d.Kept > min(d.Rows, d.Seen) || d.Oldest < 0 || d.Oldest >= max(d.Rows, 1) {
		return fmt.Errorf("%w: %+v", saved.ErrDamaged, d)
	}
	if c.Change != nil && (f.Change == nil || !f.Change.valid()) {
		return fmt.Errorf("%w: its test of change", saved.ErrDamaged)
	}
	if e := c.Encoding; e != nil && e.Standardize && (f.Context == nil || f.Action == nil ||
		!f.Context.valid(e.Context) || !f.Action.valid(e.Action)) {
		return fmt.Errorf("%w: its statistics of the numbers that it standardises", saved.ErrDamaged)
	}
	if c.Learner.Train.Replays() && d.Rows > c.Learner.Train.Capacity {
		return fmt.Errorf("it has room for %d data, more than Learner.Train.Capacity, %d",
			d.Rows, c.Learner.Train.Capacity)
	}
	return nil
}

// accepts compares a state from a file with an initial state of the agent. It moves the inputs of the decisions that
// wait for feedback out of the state, and returns these decisions.
func (a *form) accepts(f file, own *snapshot, all *[]*tensors.Tensor) ([]waiting, error) {
	waiting, rest, err := f.waiting(*all, max(a.config.Features, 1))
	if err == nil {
		*all = rest
		err = a.acceptsState(f, own, rest)
	}
	return waiting, err
}

// acceptsState does the part of accepts that concerns only the state.
func (a *form) acceptsState(f file, own *snapshot, state []*tensors.Tensor) error {
	if !slices.Equal(f.Names, a.names) || len(state) != len(a.names) {
		return fmt.Errorf("it was saved by an agent with a different configuration, or by a different version: "+
			"its state is %v, not %v", f.Names, a.names)
	}
	for i, want := range a.shapes(own, f.Data.Rows) {
		t := state[i]
		if !t.Shape().Equal(want) {
			return fmt.Errorf("%w: %s has shape %s, not %s", saved.ErrDamaged, a.names[i], t.Shape(), want)
		}
		if a.names[i].Constant() && !almostEqual(t, own.state[i].Tensor) {
			return fmt.Errorf("it was saved by an agent with a different configuration: "+
				"its %s was drawn by a different initializer, or by a different version", a.names[i])
		}
	}
	if !allFinite(state) {
		return fmt.Errorf("its state is %w: training had diverged; use an earlier file", ErrNotFinite)
	}
	return nil
}

// shapes returns the shapes of a state's tensors with a number of rows.
func (a *form) shapes(s *snapshot, rows int) []shapes.Shape {
	out := make([]shapes.Shape, len(s.state))
	for i, t := range s.state {
		if t == nil {
			out[i] = a.learner.shapes[a.names[i]]
			continue
		}
		out[i] = t.Shape().Clone()
		if a.names[i].Replayed() {
			out[i].Dimensions[1] = rows
		}
	}
	return out
}

// almostEqual reports whether tensors are equal up to rounding errors, which differ between backends.
func almostEqual(a, b *tensors.Tensor) bool {
	if a.DType() != dtypes.Float32 {
		return a.Equal(b)
	}
	x, err1 := tensors.CopyFlatData[float32](a)
	y, err2 := tensors.CopyFlatData[float32](b)
	if err1 != nil || err2 != nil {
		return false
	}
	largest, most := 0.0, 0.0
	for i := range x {
		largest = max(largest, math.Abs(float64(x[i])), math.Abs(float64(y[i])))
		most = max(most, math.Abs(float64(x[i])-float64(y[i])))
	}
	return most <= 1e-4*largest
}
