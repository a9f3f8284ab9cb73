package agent

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
)

// Drift returns how far learning has moved the parameters nu from nu_0, the anchor of the regularizer: |nu - nu_0| /
// |nu_0|, or |nu - nu_0| / |nu| if nu_0 is 0. It is 0 before any data.
func (a *Agent) Drift() (float64, error) {
	f, held := a.held()
	defer held.drop()
	s, err := f.wholeOf(held, nil)
	if err != nil {
		return 0, err
	}
	defer s.drop()
	moved, start, now := 0.0, 0.0, 0.0
	for i, name := range f.names {
		if !name.Nu() {
			continue
		}
		x, err := numbers(s.state[i].Tensor)
		if err != nil {
			return 0, err
		}
		x0, err := numbers(s.state[f.place(name.Anchor())].Tensor)
		if err != nil {
			return 0, err
		}
		for j, v := range x {
			moved, start, now = moved+(v-x0[j])*(v-x0[j]), start+x0[j]*x0[j], now+v*v
		}
	}
	switch {
	case moved == 0:
		return 0, nil
	case start == 0:
		start = now
	}
	return math.Sqrt(moved / start), nil
}

// numbers copies the numbers of a float32 or float64 tensor.
func numbers(t *tensors.Tensor) ([]float64, error) {
	switch t.DType() {
	case dtypes.Float64:
		return tensors.CopyFlatData[float64](t)
	case dtypes.Float32:
		flat, err := tensors.CopyFlatData[float32](t)
		out := make([]float64, len(flat))
		for i, v := range flat {
			out[i] = float64(v)
		}
		return out, err
	}
	return nil, fmt.Errorf("a tensor of %s has no numbers to compare", t.DType())
}
