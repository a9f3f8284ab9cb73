package agent

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// check compares the header of a file with a configuration.
func (f file) check(c Config) error {
	if c.fault != nil {
		return c.fault
	}
	if f.Format != armsFormat && f.Format != format {
		return fmt.Errorf("its format is %q, and this version reads %q and %q: use the version that wrote it, or "+
			"make a new agent", f.Format, format, armsFormat)
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
		return fmt.Errorf("%w: %s", ErrOtherConfig, strings.Join(differ, "; "))
	}
	d := f.Data
	if f.Rounds < 0 || d.Kept < 0 || d.Kept > min(d.Rows, d.Seen) || d.Oldest < 0 || d.Oldest >= max(d.Rows, 1) {
		return fmt.Errorf("%w: its numbers of data or rounds are impossible: %+v", saved.ErrDamaged, d)
	}
	if c.Change != nil && (f.Change == nil || !f.Change.valid()) {
		return fmt.Errorf("%w: its test of change is missing or invalid", saved.ErrDamaged)
	}
	if e := c.Encoding; e != nil && e.Standardize && (f.Context == nil || f.Action == nil ||
		!f.Context.valid(e.Context) || !f.Action.valid(e.Action)) {
		return fmt.Errorf("%w: its statistics of the numbers that it standardises are missing or invalid", saved.ErrDamaged)
	}
	if c.Learner.Train.Replays() && d.Rows > c.Learner.Train.Capacity {
		return fmt.Errorf("it has room for %[1]d data, and Learner.Train.Capacity is %[2]d: set Capacity to %[1]d",
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
