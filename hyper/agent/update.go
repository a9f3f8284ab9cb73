package agent

import (
	"maps"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// update is a program that makes the next state of an agent. It returns the changed parts of the state, and whether
// they are finite.
type update struct {
	exec    *Exec
	changed []int // indices in form.names of the changed parts; set when the program is built
}

// newUpdates creates the programs that learn, and frees the old ones. A program is compiled at its first use.
func (a *form) newUpdates() (err error) {
	for _, u := range []*update{a.observe, a.keep, a.train} {
		if u != nil {
			u.exec.Finalize()
		}
	}
	if a.observe, err = a.newUpdate(a.buildObserve); err != nil {
		return err
	}
	if a.keep, err = a.newUpdate(a.buildKeep); err != nil {
		return err
	}
	a.train, err = a.newUpdate(a.buildTrain)
	return err
}

func (a *form) newUpdate(build func(state train.State, rest []*Node) train.State) (*update, error) {
	u := new(update)
	exec, err := NewExec(a.backend, func(args []*Node) []*Node {
		state := train.State{}
		for i, name := range a.names {
			state[string(name)] = args[i]
		}
		next := build(maps.Clone(state), args[len(a.names):])
		u.changed = nil
		var out []*Node
		finite := Const(args[0].Graph(), true)
		for i, name := range a.names {
			x := next[string(name)]
			if x == args[i] {
				continue
			}
			u.changed, out = append(u.changed, i), append(out, x)
			if x.DType().IsFloat() && !name.Replayed() { // data are finite, and may be many
				finite = And(finite, LogicalAll(IsFinite(x)))
			}
		}
		return append(out, finite)
	})
	u.exec = exec
	return u, err
}

// apply makes the next snapshot. The error is errDiverged if the next snapshot is not finite.
func (u *update) apply(s *snapshot, more ...any) (*snapshot, error) {
	out, err := u.exec.Call(arguments(s.tensors(), more...)...)
	if err != nil {
		return nil, err
	}
	last := len(out) - 1
	ok := tensors.ToScalar[bool](out[last])
	free(out[last])
	if !ok {
		free(out[:last]...)
		return nil, errDiverged
	}
	return s.replaced(u.changed, out[:last]), nil
}

// compile compiles the program for the shapes of the arguments.
func (u *update) compile(s *snapshot, more ...any) error {
	_, err := u.exec.Compile(shapesOf(arguments(s.tensors(), more...))...)
	return err
}

// buildObserve builds the program that adds a datum. rest holds the number of earlier data, the row for the datum, x,
// y, and its weight if data are Weighted.
func (a *form) buildObserve(state train.State, rest []*Node) train.State {
	number, row, x, y, weight := rest[0], rest[1], rest[2], rest[3], optional(rest, 4)
	return a.config.Learner.ObserveWeighted(state, nil, streams(state).Learn(number), row, x, y, weight, nil)
}

// optional returns the argument at a place, or nil if the program has fewer arguments.
func optional(args []*Node, place int) *Node {
	if place < len(args) {
		return args[place]
	}
	return nil
}

// buildKeep builds the program that updates a belief with a datum that the reservoir does not take. Its arguments are
// the arguments of buildObserve.
func (a *form) buildKeep(state train.State, rest []*Node) train.State {
	return a.config.Learner.ObserveInput(state, nil, streams(state).Learn(rest[0]), rest[2], rest[3], optional(rest, 4),
		nil)
}

// buildTrain builds the program that makes the SGD steps of one round. rest holds the number of data kept, |D| of the
// loss, and the number of the round.
func (a *form) buildTrain(state train.State, rest []*Node) train.State {
	return a.config.Learner.Fit(state, nil, streams(state).Learn(rest[2]), rest[0], rest[1], nil)
}

func arguments(state []*tensors.Tensor, more ...any) []any {
	args := make([]any, 0, len(state)+len(more))
	for _, t := range state {
		args = append(args, t)
	}
	return append(args, more...)
}

func shapesOf(args []any) []shapes.Shape {
	out := make([]shapes.Shape, len(args))
	for i, arg := range args {
		t, given := arg.(*tensors.Tensor)
		if !given {
			t = tensors.MustFromAnyValue(arg)
		}
		out[i] = t.Shape()
	}
	return out
}
