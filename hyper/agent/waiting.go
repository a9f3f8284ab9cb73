package agent

import (
	"fmt"
	"time"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// waitingRow is a decision that waits for feedback, in a file. Its input is a row of a tensor.
type waitingRow struct {
	Number  uint64
	Salt    uint32
	Made    int64 // Unix time in nanoseconds
	Counted bool
	outcome
}

// outcome is what has become of a decision.
type outcome struct {
	Hidden   bool    `json:",omitempty"` // it is deferred, and has not been shown
	Shown    int64   `json:",omitempty"` // when it was, in Unix nanoseconds, where it was deferred and is not settled
	Rewarded bool    `json:",omitempty"` // a reward has come
	Default  bool    `json:",omitempty"` // the agent has learned the default
	Reward   float32 `json:",omitempty"` // that has come, or was learned
	Weight   float32 `json:",omitempty"`
	Datum    int     `json:",omitempty"` // what was learned is the datum of this number, from 1; 0 is not known
	Era      int     `json:",omitempty"` // of the datum: see eraOf
}

// saving returns decisions as a file has them, and the tensor of their inputs, [decisions, Features]; none where there
// are no decisions.
func saving(all []waiting) (rows []waitingRow, inputs []*tensors.Tensor) {
	if len(all) == 0 {
		return nil, nil
	}
	var flat []float32
	for _, w := range all {
		rows = append(rows, waitingRow{w.number, w.salt, w.made.UnixNano(), w.counted, w.outcome})
		flat = append(flat, w.x...)
	}
	return rows, []*tensors.Tensor{tensors.FromFlatDataAndDimensions(flat, len(all), len(all[0].x))}
}

// waiting returns the decisions of a file whose inputs have a width, and the other tensors.
func (f file) waiting(state []*tensors.Tensor, width int) ([]waiting, []*tensors.Tensor, error) {
	n := len(f.Pending)
	if n == 0 {
		return nil, state, nil
	}
	last := len(state) - 1
	flat, err := rowsOf(state, n, width)
	if err != nil {
		return nil, nil, err
	}
	out := make([]waiting, n)
	for i, r := range f.Pending {
		if bad := r.Datum < 0 || tooLarge(r.Reward) || tooLarge(r.Weight); bad || r.Number >= f.Decisions || i > 0 && r.Number <= f.Pending[i-1].Number {
			return nil, nil, fmt.Errorf("%w: decision %d of %d waits for feedback, at place %d", saved.ErrDamaged, r.Number,
				f.Decisions, i)
		}
		out[i] = waiting{number: r.Number, salt: r.Salt, made: time.Unix(0, r.Made), counted: r.Counted,
			x: flat[i*width : (i+1)*width : (i+1)*width], outcome: r.outcome}
	}
	free(state[last])
	return out, state[:last], nil
}

// rowsOf copies the last tensor, which must be [n, width].
func rowsOf(state []*tensors.Tensor, n, width int) ([]float32, error) {
	if len(state) == 0 {
		return nil, fmt.Errorf("%w: it has no inputs of the decisions that wait for feedback", saved.ErrDamaged)
	}
	t := state[len(state)-1]
	if s := t.Shape(); !s.Equal(shapes.Make(dtypes.Float32, n, width)) || !allFinite(state[len(state)-1:]) {
		return nil, fmt.Errorf("%w: inputs of %d decisions have shape %s, or are not finite", saved.ErrDamaged, n, s)
	}
	return tensors.CopyFlatData[float32](t)
}
