package agent

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Observe adds the datum (x, y) and makes a round of SGD steps on all data; train.Exact needs none. x has Features numbers, or is
// one arm. The error is ErrFull when Train.Capacity data are there already, where training draws from a replay buffer.
func (a *Agent) Observe(x []float32, y float32) error {
	a.learning.Lock()
	defer a.learning.Unlock()
	next, err := a.added(a.now.Load(), x, y)
	if err != nil {
		return err
	}
	if next, err = a.trained(next); err != nil {
		return err
	}
	a.now.Store(next)
	return nil
}

// Add adds the datum (x, y) without training.
func (a *Agent) Add(x []float32, y float32) error {
	a.learning.Lock()
	defer a.learning.Unlock()
	next, err := a.added(a.now.Load(), x, y)
	if err != nil {
		return err
	}
	a.now.Store(next)
	return nil
}

// Train makes so many rounds of Train.Steps SGD steps on the data so far, of which there must be one at least.
func (a *Agent) Train(rounds int) error {
	a.learning.Lock()
	defer a.learning.Unlock()
	next := a.now.Load()
	if next.size == 0 {
		return fmt.Errorf("nothing to train on: the agent has observed no data")
	}
	var err error
	for range rounds {
		if next, err = a.trained(next); err != nil {
			return err
		}
	}
	a.now.Store(next)
	return nil
}

// Size is the number of data observed.
func (a *Agent) Size() int { return a.now.Load().size }

func (a *Agent) added(s *snapshot, x []float32, y float32) (*snapshot, error) {
	if a.config.Train.Replays() && s.size >= a.config.Train.Capacity {
		return nil, fmt.Errorf("%w: it holds %d data; make one with a larger Train.Capacity", ErrFull, s.size)
	}
	if y := float64(y); math.IsNaN(y) || math.IsInf(y, 0) {
		return nil, fmt.Errorf("the response y must be finite, got %v", y)
	}
	input, err := a.input(x)
	if err != nil {
		return nil, err
	}
	state, err := a.observe.Call(arguments(s.state, int32(s.size), input, []float32{y})...)
	if err != nil {
		return nil, err
	}
	return &snapshot{state: state, size: s.size + 1, rounds: s.rounds}, nil
}

func (a *Agent) trained(s *snapshot) (*snapshot, error) {
	if a.config.Train.Integrate == train.Exact { // nothing to do
		return &snapshot{state: s.state, size: s.size, rounds: s.rounds + 1}, nil
	}
	state, err := a.train.Call(arguments(s.state, int32(s.size), int32(s.rounds))...)
	if err != nil {
		return nil, err
	}
	return &snapshot{state: state, size: s.size, rounds: s.rounds + 1}, nil
}

// input makes x the argument of a graph: [1, features], or an arm [1].
func (a *Agent) input(x []float32) (any, error) {
	if err := a.checkInput(x); err != nil {
		return nil, err
	}
	if a.config.Features == 0 {
		return []int32{int32(x[0])}, nil
	}
	return [][]float32{x}, nil
}

func (a *Agent) checkInput(x []float32) error {
	if want := max(a.config.Features, 1); len(x) != want {
		return fmt.Errorf("an input has %d numbers, got %d", want, len(x))
	}
	for _, v := range x {
		if v := float64(v); math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("an input must be finite, got %v", x)
		}
	}
	if arms := a.config.Model.Base.Groups()[0]; a.config.Features == 0 && (x[0] < 0 || int(x[0]) >= arms || x[0] != float32(int(x[0]))) {
		return fmt.Errorf("an input of a tabular model is an arm from 0 to %d, got %v", arms-1, x[0])
	}
	return nil
}

func arguments(state []*tensors.Tensor, more ...any) []any {
	args := make([]any, 0, len(state)+len(more))
	for _, t := range state {
		args = append(args, t)
	}
	return append(args, more...)
}

func float32Shape(dims ...int) shapes.Shape { return shapes.Make(dtypes.Float32, dims...) }
