package agent

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Replay selects the data that an agent keeps for its SGD steps when there are many. An agent whose Train.Integrate
// keeps sums over the data (see [train.Config.Replays]) has no bound and needs no Replay. Arms, Linear and Contextual
// keep sums by default.
type Replay int

const (
	// Growth begins with room for 1,024 data and doubles it as data come, up to Train.Capacity (0 means 1,048,576).
	// Each doubling changes the shape of the programs that learn, which must then be compiled again: on XLA, the
	// Observe or Add that doubles takes about a second longer. At Train.Capacity data it continues as Reservoir does.
	Growth Replay = iota + 1
	// Reservoir has room for Train.Capacity data from the start. When it is full, it is a uniform sample, without
	// replacement, of all data so far: the n-th datum replaces a random one with probability Capacity/n. |D| in the
	// loss is n, the number of all data, because the sample represents them. So the prior has the same weight as
	// against n data. The perturbations belong to the data kept, so that the functions keep the spread that Capacity
	// data leave.
	Reservoir
	// Window has room for Train.Capacity data from the start. When it is full, each datum replaces the oldest, and |D|
	// in the loss is Capacity. The agent forgets, which suits a world that changes. Window is an error for an agent that
	// keeps sums over its data, and for a belief that is hyper.Conditioned, because they cannot drop data.
	Window
)

func (r Replay) String() string { return enum.Word(r, "growth", "reservoir", "window") }

// firstRows is the number of data for which Growth has room at first, and mostRows the default of its Capacity.
const (
	firstRows = 1 << 10
	mostRows  = 1 << 20
)

// ErrNoData means that an agent keeps sums over its data, and not the data.
var ErrNoData = errors.New(
	"the agent keeps sums over its data, not the data; an agent with train.Sampled or train.Analytic keeps the data")

// contents counts the data of a state.
type contents struct {
	Seen   int // number of data observed
	Kept   int // number of data in the replay buffer
	Rows   int // number of rows of the replay buffer
	Oldest int // row of the oldest datum of a full window
}

// rows returns the number of rows that an agent begins with.
func (c Config) rows() int {
	switch {
	case !c.Learner.Train.Replays():
		return 0
	case c.Replay == Growth:
		return min(firstRows, c.Learner.Train.Capacity)
	}
	return c.Learner.Train.Capacity
}

// room returns the number of rows needed for the next datum.
func (c Config) room(d contents) int {
	if d.Kept < d.Rows || d.Seen > d.Kept { // a reservoir that has dropped data keeps its size
		return d.Rows
	}
	return min(2*d.Rows, max(c.Learner.Train.Capacity, d.Rows))
}

// place returns the row of the next datum, or -1 if a reservoir does not take it, and the contents after it.
func (c Config) place(d contents) (row int, next contents) {
	next = d
	next.Seen++
	switch {
	case !c.Learner.Train.Replays():
		return 0, next
	case d.Kept < d.Rows:
		next.Kept++
		return d.Kept, next
	case c.Replay == Window:
		next.Oldest = (d.Oldest + 1) % d.Rows
		return d.Oldest, next
	}
	if at := randomBelow(c.Seed, next.Seen); at < d.Rows {
		return at, next
	}
	return -1, next
}

// randomBelow returns a number that is uniform on 0..n-1 and depends only on the agent's seed and n.
func randomBelow(seed uint64, n int) int {
	var key [32]byte
	copy(key[:], "agent, reservoir")
	binary.LittleEndian.PutUint64(key[16:], seed)
	binary.LittleEndian.PutUint64(key[24:], uint64(n))
	return rand.New(rand.NewChaCha8(key)).IntN(n)
}

// inLoss returns |D|, the number of data in the loss.
func (c Config) inLoss(d contents) int {
	if c.Replay == Window && c.Learner.Train.Replays() {
		return d.Kept
	}
	return d.Seen
}

// Datum is an input, as Add takes it, with its response.
type Datum struct {
	X []float32
	Y float32
}

// Data returns the data that the agent keeps, oldest first. The data of a full reservoir have no order. The error is
// ErrNoData if the agent keeps none: see Replay.
func (a *Agent) Data() ([]Datum, error) {
	f, s := a.held()
	defer s.drop()
	if !f.config.Learner.Train.Replays() {
		return nil, ErrNoData
	}
	y, err := tensors.CopyFlatData[float32](s.state[f.place(train.ReplayY)].Tensor)
	if err != nil {
		return nil, err
	}
	x, err := f.keptInputs(s)
	if err != nil {
		return nil, err
	}
	out := make([]Datum, s.data.Kept)
	width := max(f.config.Features, 1)
	for i := range out {
		row := (s.data.Oldest + i) % s.data.Rows
		out[i] = Datum{X: x[row*width : (row+1)*width : (row+1)*width], Y: y[row]}
	}
	return out, nil
}

// keptInputs returns the inputs of all rows, concatenated.
func (a *form) keptInputs(s *snapshot) ([]float32, error) {
	if a.config.Features > 0 {
		return tensors.CopyFlatData[float32](s.state[a.place(train.ReplayInputs)].Tensor)
	}
	arms, err := tensors.CopyFlatData[int32](s.state[a.place(train.ReplayX)].Tensor)
	x := make([]float32, len(arms))
	for i, arm := range arms {
		x[i] = float32(arm)
	}
	return x, err
}

// resized returns a snapshot with more rows; the rows after the data are zero. A window then begins with its oldest
// datum.
func (a *form) resized(s *snapshot, rows int) (*snapshot, error) {
	var at []int
	var by []*tensors.Tensor
	for i, name := range a.names {
		if !name.Replayed() {
			continue
		}
		t, err := withRows(s.state[i].Tensor, rows, s.data.Oldest)
		if err != nil {
			return nil, err
		}
		at, by = append(at, i), append(by, t)
	}
	next := s.replaced(at, by)
	next.data.Rows, next.data.Oldest = rows, 0
	return next, nil
}

// withRows returns a tensor with more rows that begins with the rows of t, [1, rows, ...]: first the rows from index
// from to the last, then the rows before from.
func withRows(t *tensors.Tensor, rows, from int) (*tensors.Tensor, error) {
	dims := append([]int{1, rows}, t.Shape().Dimensions[2:]...)
	out := tensors.FromShape(shapes.Make(t.DType(), dims...))
	var inner error
	err := t.ConstBytes(func(old []byte) {
		inner = out.MutableBytes(func(data []byte) {
			start := from * len(old) / t.Shape().Dimensions[1]
			copy(data[copy(data, old[start:]):], old[:start])
		})
	})
	return out, errors.Join(err, inner)
}
