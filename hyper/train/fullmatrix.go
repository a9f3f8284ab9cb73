package train

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// FullMatrix returns the full matrix, N_theta x N_z, for a matrix given by its entries within a layout, N_theta x
// Width.
func FullMatrix(l hyper.Layout, entries mat.Matrix) (*mat.Dense, error) {
	if err := l.Validate(); err != nil {
		return nil, faults.Prefix("oracle: ", err)
	}
	kept, err := shaped("the matrix of entries", entries, l.Rows(), l.Width)
	if err != nil {
		return nil, err
	}
	out := mat.NewDense(l.Rows(), l.IndexDim(), nil)
	return out, blocks(l, func(row, end, from, to int) error {
		out.Slice(row, end, from, to).(*mat.Dense).Copy(kept.Slice(row, end, 0, l.Width))
		return nil
	})
}

// blocks calls f for the rows [row, end) and columns [from, to) of each block of a layout, and stops at the first
// error.
func blocks(l hyper.Layout, f func(row, end, from, to int) error) error {
	row := 0
	for b, size := range l.Sizes {
		if err := f(row, row+size, b*l.Width, (b+1)*l.Width); err != nil {
			return err
		}
		row += size
	}
	return nil
}

// within does what shaped does, and reports a matrix that is not zero outside a layout.
func within(l hyper.Layout, name string, m mat.Matrix) (*mat.Dense, error) {
	out, err := shaped(name, m, l.Rows(), l.IndexDim())
	if err != nil {
		return nil, err
	}
	outside := mat.DenseCopyOf(out)
	_ = blocks(l, func(row, end, from, to int) error {
		outside.Slice(row, end, from, to).(*mat.Dense).Zero()
		return nil
	})
	if mat.Norm(outside, 1) != 0 {
		return nil, fmt.Errorf("oracle: %s has entries outside the layout", name)
	}
	return out, nil
}

// shaped checks the shape of m and returns a copy of m, or zeros for nil.
func shaped(name string, m mat.Matrix, rows, columns int) (*mat.Dense, error) {
	if m == nil {
		return mat.NewDense(rows, columns, nil), nil
	}
	if r, c := m.Dims(); r != rows || c != columns {
		return nil, fmt.Errorf("oracle: %s is %d x %d, want %d x %d", name, r, c, rows, columns)
	}
	return mat.DenseCopyOf(m), nil
}
