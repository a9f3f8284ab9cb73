package approx

import (
	"context"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// batchNumbers is the maximum number of parameters in one call of the evaluation: runs x indices x N_theta.
const batchNumbers = 1 << 22

// Evaluate returns f_{g_nu(z)} on X for each row of z, by [hyper.Model.Predict] in single precision.
func (t *Theorem) Evaluate(ctx context.Context, backendName string, z [][]float64) ([][]float64, error) {
	b, err := backend.Open(backendName)
	if err != nil {
		return nil, err
	}
	model := t.Model()
	if err := model.Validate(); err != nil {
		return nil, err
	}
	exec, err := NewExec(b, func(mu, c, z, x *Node) *Node {
		return model.Predict(hyper.Params{Nu: []*Node{mu, c}}, index.Vectors(z), x)
	})
	if err != nil {
		return nil, err
	}
	defer exec.Finalize()
	mu, c := t.Nu()
	k, size := len(t.Points), len(mu)
	nu := []any{tensor(mu, 1, size), tensor(c, 1, size, 1)}
	x, batch := tensor(t.Points, 1, k, 1), min(max(batchNumbers/size, 1), len(z))
	out := rows(len(z), k)
	for from := 0; from < len(z); from += batch {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := exec.Call1(append(nu, batchOf(z, from, batch, k), x)...)
		if err != nil {
			return nil, err
		}
		if err := readRows(f, out[from:min(from+batch, len(z))]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// tensor returns a tensor of numbers in single precision.
func tensor(v []float64, dims ...int) *tensors.Tensor {
	flat := make([]float32, len(v))
	for i := range v {
		flat[i] = float32(v[i])
	}
	return tensors.FromFlatDataAndDimensions(flat, dims...)
}

// iterate calls a program n times, and returns the last state. Call i has the arguments args(i) and the state.
func iterate(ctx context.Context, b compute.Backend, build func([]*Node) []*Node, n int, state []*tensors.Tensor,
	args func(i int) []any) ([]*tensors.Tensor, error) {
	exec, err := NewExec(b, build)
	if err != nil {
		return nil, err
	}
	defer exec.Finalize()
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if state, err = exec.Call(before(state, args(i)...)...); err != nil {
			return nil, err
		}
	}
	return state, nil
}

// before returns args followed by the tensors of a state.
func before(state []*tensors.Tensor, args ...any) []any {
	for _, s := range state {
		args = append(args, s)
	}
	return args
}

// readRows copies the first numbers of a tensor to rows of equal length.
func readRows(t *tensors.Tensor, out [][]float64) error {
	flat, err := tensors.CopyFlatData[float32](t)
	if err != nil {
		return err
	}
	for i, row := range out {
		for j := range row {
			row[j] = float64(flat[i*len(row)+j])
		}
	}
	return nil
}

// batchOf returns the rows from, from+1, ... of z as indices [1, n, k]. After the last row it adds zeros, so that all
// batches have the same shape.
func batchOf(z [][]float64, from, n, k int) *tensors.Tensor {
	flat := make([]float64, n*k)
	for i := from; i < min(from+n, len(z)); i++ {
		copy(flat[(i-from)*k:], z[i])
	}
	return tensor(flat, 1, n, k)
}

// Indices draws n indices from p_z in single precision, as hypermodels draw them. stream and step name the random
// stream.
func Indices(backendName string, r Reference, k int, seed uint64, stream string, step, n int) ([][]float64, error) {
	b, err := backend.Open(backendName)
	if err != nil {
		return nil, err
	}
	z, err := CallOnce(b, func(seeds *Node) *Node {
		s := rng.New(seeds).Named("approx").Named(stream).Step(step)
		return r.index(k).Sample(s, n).Dense()
	}, []uint64{seed})
	if err != nil {
		return nil, err
	}
	out := rows(n, k)
	return out, readRows(z, out)
}
