package train

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/hypermodels/hypermodels/hyper"
)

// What the layouts of hyper and the index of section 4.1 mean as the full matrices that Oracle works with.

// ArmRows returns the features of a tabular base model with k arms, T x k: row t is one at the arm of datum t.
func ArmRows(arms []int, k int) (*mat.Dense, error) {
	return ArmBlocks(arms, ones{len(arms)}, k)
}

// ArmBlocks returns the full vectors A_t of index.PerArm, T x k m: row t of a (T x m) in the block of the arm of datum
// t.
func ArmBlocks(arms []int, a mat.Matrix, k int) (*mat.Dense, error) {
	t, m := a.Dims()
	if t != len(arms) || t == 0 || k < 1 {
		return nil, fmt.Errorf("oracle: %d arms played, %d rows, and %d arms in all do not fit; "+
			"all must be positive and the first two equal", len(arms), t, k)
	}
	out := mat.NewDense(t, k*m, nil)
	for i, arm := range arms {
		if arm < 0 || arm >= k {
			return nil, fmt.Errorf("oracle: datum %d is of arm %d; arms are 0 to %d", i, arm, k-1)
		}
		for j := range m {
			out.Set(i, arm*m+j, a.At(i, j))
		}
	}
	return out, nil
}

// Entries returns the full matrix, N_theta x N_z, of a matrix kept as its entries within a layout, N_theta x Width.
func Entries(l hyper.Layout, entries mat.Matrix) (*mat.Dense, error) {
	if err := l.Validate(); err != nil {
		return nil, fmt.Errorf("oracle: %w", err)
	}
	if rows, width := entries.Dims(); rows != l.Rows() || width != l.Width {
		return nil, fmt.Errorf("oracle: entries are %d x %d, but the layout keeps %d x %d",
			rows, width, l.Rows(), l.Width)
	}
	out, row := mat.NewDense(l.Rows(), l.IndexDim(), nil), 0
	for b, size := range l.Sizes {
		for i := row; i < row+size; i++ {
			for j := range l.Width {
				out.Set(i, b*l.Width+j, entries.At(i, j))
			}
		}
		row += size
	}
	return out, nil
}

// within returns m, or zeros for nil, after checking that it is zero outside the layout.
func within(l hyper.Layout, name string, m mat.Matrix) (*mat.Dense, error) {
	out, err := full(name, m, l.Rows(), l.IndexDim())
	if err != nil {
		return nil, err
	}
	row := 0
	for b, size := range l.Sizes {
		for i := row; i < row+size; i++ {
			for j := range l.IndexDim() {
				if out.At(i, j) != 0 && j/l.Width != b {
					return nil, fmt.Errorf("oracle: %s has an entry at (%d, %d), outside the layout", name, i, j)
				}
			}
		}
		row += size
	}
	return out, nil
}

// full returns a copy of m, or zeros for nil, after checking its shape.
func full(name string, m mat.Matrix, rows, columns int) (*mat.Dense, error) {
	if m == nil {
		return mat.NewDense(rows, columns, nil), nil
	}
	if r, c := m.Dims(); r != rows || c != columns {
		return nil, fmt.Errorf("oracle: %s is %d x %d, want %d x %d", name, r, c, rows, columns)
	}
	return mat.DenseCopyOf(m), nil
}

// column is full for a vector.
func column(name string, v mat.Vector, n int) (*mat.VecDense, error) {
	if v == nil {
		return mat.NewVecDense(n, nil), nil
	}
	if v.Len() != n {
		return nil, fmt.Errorf("oracle: %s has length %d, want %d", name, v.Len(), n)
	}
	return mat.VecDenseCopyOf(v), nil
}

// inverse returns the inverse of a positive definite matrix.
func inverse(name string, m mat.Symmetric) (*mat.SymDense, error) {
	var chol mat.Cholesky
	if !chol.Factorize(m) {
		return nil, fmt.Errorf("oracle: %s is not positive definite", name)
	}
	out := mat.NewSymDense(m.SymmetricDim(), nil)
	if err := chol.InverseTo(out); err != nil {
		return nil, fmt.Errorf("oracle: %s is nearly singular: %w", name, err)
	}
	return out, nil
}

// ones is a column of T ones.
type ones struct{ t int }

func (o ones) Dims() (int, int)    { return o.t, 1 }
func (o ones) At(_, _ int) float64 { return 1 }
func (o ones) T() mat.Matrix       { return mat.Transpose{Matrix: o} }
