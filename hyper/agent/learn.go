package agent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// ErrReward says that a response, or its weight, is none that the Learner can learn from.
var ErrReward = errors.New("wrong reward")

// ErrClosed says that the agent has been closed, and learns no more.
var ErrClosed = errors.New("the agent is closed")

// Add adds a datum (x, y) that no decision of the agent stands behind, without training. x has Features numbers, or is
// one arm, and with arms as numbers (see ArmCode) it begins with one. It never ends: what is kept of many data says
// Config.Replay. The error is ErrNotFinite when the datum is too large for single precision, ErrClosed after Close, or
// says that x is no input.
func (a *Agent) Add(x []float32, y float32) error {
	defer a.background.wake()
	return waited(a.learn(record(journal.Record{Datum: &journal.Datum{Input: x, Response: y}}), a.added(x, y, 1)))
}

// record is a record of now.
func record(r journal.Record) journal.Record {
	r.Time = time.Now().UnixNano()
	return r
}

// waited waits for the log.
func waited(wait func() error, err error) error {
	if err != nil {
		return err
	}
	return wait()
}

// Learn makes a number of rounds of Train.Steps SGD steps on the data so far, of which there must be one at least. The
// error is ErrNotFinite when they diverge, that of ctx when it is done before they are, and ErrClosed after Close; the
// agent is then what it was before all of them.
func (a *Agent) Learn(ctx context.Context, rounds int) error {
	if rounds < 0 {
		return fmt.Errorf("the number of rounds must not be negative, got %d", rounds)
	}
	if a.Size() == 0 {
		return errors.New("nothing to train on: the agent has observed no data")
	}
	steps := make([]step, rounds)
	for i := range steps {
		steps[i] = func(s *snapshot) (*snapshot, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			return a.trained(s)
		}
	}
	return waited(a.learn(record(journal.Record{Trained: &journal.Trained{Rounds: rounds}}), steps...))
}

// Close ends the background learner, if there is one, and settles no more decisions (see [Reward]): an agent that is
// opened from its file does. The agent still acts, and is sampled and saved; it learns no more. It may be called again.
func (a *Agent) Close() {
	a.learning.Lock()
	closed := a.closed
	a.closed = true
	a.learning.Unlock()
	for _, b := range []*background{a.background, a.settler} {
		if b != nil && !closed {
			close(b.stop)
		}
		if b != nil {
			<-b.done
		}
	}
}

// Size is the number of data observed.
func (a *Agent) Size() int {
	a.reading.Lock()
	defer a.reading.Unlock()
	return a.now.data.Seen
}

// Rounds is the number of rounds of SGD steps made.
func (a *Agent) Rounds() int {
	a.reading.Lock()
	defer a.reading.Unlock()
	return a.now.rounds
}

// step makes the next snapshot; it leaves the last as it is.
type step func(*snapshot) (*snapshot, error)

// learn makes all steps, or none, which is what the record says. The caller calls wait.
func (a *Agent) learn(r journal.Record, steps ...step) (wait func() error, err error) {
	a.learning.Lock()
	defer a.learning.Unlock()
	return a.learnLocked(r, steps...)
}

// learnLocked is learn where the caller holds a.learning.
func (a *Agent) learnLocked(r journal.Record, steps ...step) (wait func() error, err error) {
	if a.closed {
		return nil, ErrClosed
	}
	s := a.current()
	for _, next := range steps {
		made, err := next(s)
		s.drop()
		if err != nil {
			return nil, err
		}
		s = made
	}
	wait, err = a.commit(r, func() { a.become(s) })
	if err != nil {
		s.drop()
	}
	return wait, err
}

// checkWeight reports a weight that the agent cannot give to a datum.
func (a *Agent) checkWeight(w float32) error {
	switch {
	case !(w > 0 && w <= 1e9):
		return fmt.Errorf("%w: the weight must be positive and at most 1e9, got %v", ErrReward, w)
	case w != 1 && !a.config.Learner.Train.Weighted:
		return fmt.Errorf("%w: a Weight of %v needs Config.Learner.Train.Weighted", ErrReward, w)
	}
	return nil
}

// added is the step that adds a datum with a weight.
func (a *Agent) added(x []float32, y, weight float32) step {
	return func(s *snapshot) (*snapshot, error) {
		if err := a.checkInput(x); err != nil {
			return nil, err
		}
		if err := a.checkFeedback(y, weight); err != nil {
			return nil, err
		}
		s, err := a.watched(s, x, y, weight)
		if err != nil {
			return nil, err
		}
		defer s.drop()
		s, err = a.roomy(s)
		if err != nil {
			return nil, err
		}
		defer s.drop()
		row, data := a.config.place(s.data)
		if s.learned != nil {
			next, err := s.taught(x, y, weight)
			if err == nil {
				next.data = data
			}
			return next, err
		}
		add := a.observe
		switch {
		case row < 0 && !a.config.conditioned():
			next := s.replaced(nil, nil)
			next.data = data
			return next, nil
		case row < 0:
			add = a.keep
		}
		next, err := add.apply(s, a.datum(s, row, x, y, weight)...)
		if err != nil {
			return nil, err
		}
		next.data = data
		return next, nil
	}
}

// roomy holds a snapshot with room for a datum.
func (a *Agent) roomy(s *snapshot) (*snapshot, error) {
	rows := a.config.room(s.data)
	if rows == s.data.Rows {
		return s.replaced(nil, nil), nil
	}
	if err := a.newUpdates(); err != nil {
		return nil, err
	}
	return a.resized(s, rows)
}

// datum makes the arguments of the program observe.
func (a *Agent) datum(s *snapshot, row int, x []float32, y, weight float32) []any {
	input := any([][]float32{x})
	if a.config.Features == 0 {
		input = []int32{int32(x[0])}
	}
	out := []any{uint32(s.data.Seen), int32(row), input, []float32{y}}
	if a.config.Learner.Train.Weighted {
		out = append(out, []float32{weight})
	}
	return out
}

// trained is the step that makes a round of SGD steps.
func (a *Agent) trained(s *snapshot) (*snapshot, error) {
	next, err := s.replaced(nil, nil), error(nil)
	if a.config.Learner.Train.Integrate != train.Exact { // there is nothing to train
		next.drop()
		if next, err = a.train.apply(s, a.round(s)...); err != nil {
			return nil, err
		}
	}
	next.rounds++
	return next, nil
}

// round makes the arguments of the program train.
func (a *Agent) round(s *snapshot) []any {
	number := func(n int) int32 { return int32(min(n, math.MaxInt32)) }
	kept := s.data.Kept
	if !a.config.Learner.Train.Replays() {
		kept = s.data.Seen
	}
	return []any{number(kept), number(a.config.inLoss(s.data)), uint32(s.rounds)}
}

func (a *form) checkInput(x []float32) error {
	if want := max(a.config.Features, 1); len(x) != want {
		return fmt.Errorf("an input has %d numbers, got %d", want, len(x))
	}
	if slices.ContainsFunc(x, tooLarge) {
		return fmt.Errorf("an input is %w: its numbers must be between -1e18 and 1e18, got %v", ErrNotFinite, x)
	}
	arms, what := a.config.numbered(), "the first number of an input"
	if a.config.Features == 0 {
		arms, what = a.arms, "an input without features"
	}
	if arms > 0 && !(x[0] >= 0 && int(x[0]) < arms && x[0] == float32(int(x[0]))) {
		return fmt.Errorf("%s is an arm from 0 to %d, got %v", what, arms-1, x[0])
	}
	return nil
}

// tooLarge tells whether a number is not finite, or its square is not in single precision.
func tooLarge(v float32) bool { return !(math.Abs(float64(v)) <= 1e18) }
