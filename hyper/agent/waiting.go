package agent

import (
	"fmt"
	"time"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// waitingRow is a decision that waits for feedback, as a file stores it. Its input is a row of a tensor.
type waitingRow struct {
	Number  uint64
	Salt    uint32
	Made    int64 // Unix time in nanoseconds
	Counted bool
	outcome
}

// outcome is what the agent knows about the result of a decision.
type outcome struct {
	Hidden   bool    `json:",omitempty"` // the decision is deferred, and has not been shown
	Shown    int64   `json:",omitempty"` // Unix nanoseconds; 0 if it was not deferred, or is settled
	Rewarded bool    `json:",omitempty"` // a reward has arrived
	Default  bool    `json:",omitempty"` // the agent has learned the default
	Reward   float32 `json:",omitempty"` // the reward that has arrived, or was learned
	Weight   float32 `json:",omitempty"`
	Datum    int     `json:",omitempty"` // number of the datum that was learned, from 1; 0 means unknown
	Era      int     `json:",omitempty"` // era of the datum: see eraOf
}

// saving converts decisions to the rows of a file and the tensor of their inputs, [decisions, Features]; inputs is nil
// if there are no decisions.
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

// waiting returns the decisions of a file, and the tensors without their inputs. width is the length of an input.
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

// rowsOf returns the numbers of the last tensor, which must have shape [n, width].
func rowsOf(state []*tensors.Tensor, n, width int) ([]float32, error) {
	if len(state) == 0 {
		return nil, fmt.Errorf("%w: the inputs of the decisions that wait for feedback are missing", saved.ErrDamaged)
	}
	t := state[len(state)-1]
	if s := t.Shape(); !s.Equal(shapes.Make(dtypes.Float32, n, width)) || !allFinite(state[len(state)-1:]) {
		return nil, fmt.Errorf("%w: inputs of %d decisions have shape %s, or are not finite", saved.ErrDamaged, n, s)
	}
	return tensors.CopyFlatData[float32](t)
}
