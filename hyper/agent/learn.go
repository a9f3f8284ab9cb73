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

// ErrReward means that the Learner cannot learn from a response, or from its weight.
var ErrReward = errors.New("wrong reward")

// ErrClosed means that the agent has been closed, and no longer learns.
var ErrClosed = errors.New("the agent is closed")

// Add adds a datum (x, y) that does not belong to a decision of the agent, without training. x has Features numbers, or
// is the number of one arm; if arms are encoded as numbers (see ArmCode), x begins with the number of an arm. The agent
// accepts any number of data; Config.Replay defines which data it keeps. The error is ErrNotFinite if the datum is too
// large for single precision, ErrClosed after Close, or says that x is not a valid input.
func (a *Agent) Add(x []float32, y float32) error {
	defer a.background.wake()
	return waited(a.learn(record(journal.Record{Datum: &journal.Datum{Input: x, Response: y}}), a.added(x, y, 1)))
}

// record returns the record with the present time.
func record(r journal.Record) journal.Record {
	r.Time = time.Now().UnixNano()
	return r
}

// waited calls wait, if there was no error.
func waited(wait func() error, err error) error {
	if err != nil {
		return err
	}
	return wait()
}

// Learn makes the given number of rounds of Train.Steps SGD steps on the data so far; there must be at least one datum.
// The error is ErrNotFinite if training diverges, the error of ctx if ctx ends before the rounds do, and ErrClosed
// after Close. After an error the agent is as it was before all rounds.
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

// Close stops the background learner, if there is one, and the settling of decisions (see [Reward]). Decisions that are
// not settled yet are settled when the agent is opened from its file. The closed agent still acts, and can be sampled
// and saved; it no longer learns. Close may be called again.
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

// Size returns the number of data observed since New, or since the last restart by a test of change (see [Change]).
func (a *Agent) Size() int {
	a.reading.Lock()
	defer a.reading.Unlock()
	return a.now.data.Seen
}

// Rounds returns the number of rounds of SGD steps made since New, or since the last restart by a test of change (see
// [Change]).
func (a *Agent) Rounds() int {
	a.reading.Lock()
	defer a.reading.Unlock()
	return a.now.rounds
}

// step makes the next snapshot from the last, and does not change the last.
type step func(*snapshot) (*snapshot, error)

// learn makes all steps, or none, and appends the record that describes them. The caller must call wait.
func (a *Agent) learn(r journal.Record, steps ...step) (wait func() error, err error) {
	a.learning.Lock()
	defer a.learning.Unlock()
	return a.learnLocked(r, steps...)
}

// learnLocked is learn for a caller that holds a.learning.
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

// checkWeight reports a weight that the agent cannot learn from.
func (a *Agent) checkWeight(w float32) error {
	switch {
	case !(w > 0 && w <= 1e9):
		return fmt.Errorf("%w: the weight must be positive and at most 1e9, got %v", ErrReward, w)
	case w != 1 && !a.config.Learner.Train.Weighted:
		return fmt.Errorf("%w: a Weight of %v needs Config.Learner.Train.Weighted", ErrReward, w)
	}
	return nil
}

// added returns the step that adds a weighted datum.
func (a *Agent) added(x []float32, y, weight float32) step {
	return func(s *snapshot) (*snapshot, error) {
		if err := a.checkInput(x); err != nil {
			return nil, err
		}
		if err := a.checkFeedback(y, weight); err != nil {
			return nil, err
		}
		s, err := a.afterTest(s, x, y, weight)
		if err != nil {
			return nil, err
		}
		defer s.drop()
		s, err = a.withRoom(s)
		if err != nil {
			return nil, err
		}
		defer s.drop()
		row, data := a.config.place(s.data)
		next, err := a.observed(s, row, x, y, weight)
		if err == nil {
			next.data = data
		}
		return next, err
	}
}

// observed returns a snapshot that has learned one more datum, with the same contents. row is the datum's row in the
// replay buffer; it is negative for a datum that the reservoir does not take.
func (a *Agent) observed(s *snapshot, row int, x []float32, y, weight float32) (*snapshot, error) {
	switch {
	case s.learned != nil:
		return s.learnedNext(s.learned.Observe(x, y, weight))
	case row >= 0:
		return a.observe.apply(s, a.datum(s, row, x, y, weight)...)
	case a.config.readsRefused():
		return a.keep.apply(s, a.datum(s, row, x, y, weight)...)
	}
	return s.replaced(nil, nil), nil
}

// withRoom returns a snapshot with room for one more datum; the caller drops it.
func (a *Agent) withRoom(s *snapshot) (*snapshot, error) {
	rows := a.config.room(s.data)
	if rows == s.data.Rows {
		return s.replaced(nil, nil), nil
	}
	if err := a.newUpdates(); err != nil {
		return nil, err
	}
	return a.resized(s, rows)
}

// datum returns the arguments of the program observe.
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

// round returns the arguments of the program train.
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

// tooLarge reports whether a number is not finite, or whether its square is not finite in single precision.
func tooLarge(v float32) bool { return !(math.Abs(float64(v)) <= 1e18) }
