package hyper

import (
	"errors"
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Layout defines which part of the index each parameter depends on: the linear constraints of section 2.3. The index is
// divided into len(Sizes) consecutive parts of Width numbers, and the parameters into consecutive blocks of the given
// Sizes. The parameters of block b depend on part b only. A matrix B with this structure is stored as its nonzero
// entries, [runs, sum of Sizes, Width], never as the full N_theta x N_z matrix.
type Layout struct {
	Sizes []int
	Width int
}

// Dense returns the layout in which every parameter depends on the whole index.
func Dense(numTheta, indexDim int) Layout { return Layout{[]int{numTheta}, indexDim} }

// PerParameter returns the layout in which each parameter has its own part of the index. A width of 1 makes a diagonal
// matrix. The matrix diag(c_1, ..., c_K) of section 4.1 has width m.
func PerParameter(numTheta, width int) Layout {
	if numTheta < 1 {
		return Layout{nil, width} // Validate reports the error
	}
	if faults.Size("", numTheta, max(width, 1)) != nil {
		return Layout{[]int{numTheta}, width} // Validate reports the error, before memory is allocated for the blocks
	}
	return Layout{slices.Repeat([]int{1}, numTheta), width}
}

// PerGroup returns the layout in which each group of a base model's parameters, such as a layer of a network, has its
// own part of the index.
func PerGroup(b BaseModel, width int) Layout { return Layout{b.Groups(), width} }

// Rows returns the number of parameters.
func (l Layout) Rows() int {
	return sum(l.Sizes)
}

// IndexDim returns N_z, the length of the whole index.
func (l Layout) IndexDim() int { return len(l.Sizes) * l.Width }

// Validate reports block sizes or a width that are not positive, or too large.
func (l Layout) Validate() error {
	if len(l.Sizes) == 0 || l.Width < 1 {
		return fmt.Errorf("a layout needs at least one block and a positive index Width, got %d blocks of width %d",
			len(l.Sizes), l.Width)
	}
	rows := 0
	for i, s := range l.Sizes {
		if s < 1 {
			return fmt.Errorf("block %d of the layout has size %d; sizes must be positive", i, s)
		}
		if rows += min(s, faults.MostNumbers); rows > faults.MostNumbers || s > faults.MostNumbers {
			return fmt.Errorf("the blocks of the layout have more than %d rows", faults.MostNumbers)
		}
	}
	return errors.Join(faults.Size("the matrix of the layout, rows x Width,", rows, l.Width),
		faults.Size("an index of the layout, blocks x Width,", len(l.Sizes), l.Width))
}

// Equal reports whether two layouts have the same blocks.
func (l Layout) Equal(o Layout) bool { return l.Width == o.Width && slices.Equal(l.Sizes, o.Sizes) }

// uniform returns the common size of the blocks, or 0 if the sizes differ.
func (l Layout) uniform() int {
	for _, s := range l.Sizes {
		if s != l.Sizes[0] {
			return 0
		}
	}
	return l.Sizes[0]
}

// join calls part for each block, with the block's size, its rows and its part of the index, and concatenates the
// results along an axis.
func (l Layout) join(axis int, part func(size int, rows, index SliceAxisSpec) *Node) *Node {
	parts, row := make([]*Node, len(l.Sizes)), 0
	for b, size := range l.Sizes {
		parts[b] = part(size, AxisRange(row, row+size), AxisRange(b*l.Width, (b+1)*l.Width))
		row += size
	}
	return Concatenate(parts, axis)
}

// Mul returns B z, [runs, n, rows]. c is the entries of B, [runs, rows, Width], and z are indices, [runs, n, IndexDim].
func (l Layout) Mul(c, z *Node) *Node {
	runs, n, blocks := z.Shape().Dim(0), z.Shape().Dim(1), len(l.Sizes)
	if blocks == 1 {
		return Einsum("rnz,rpz->rnp", z, c)
	}
	if size := l.uniform(); size == 1 {
		return ReduceSum(Mul(Reshape(z, runs, n, blocks, l.Width), InsertAxes(c, 1)), 3)
	} else if size > 0 {
		out := Einsum("rnbz,rbpz->rnbp", Reshape(z, runs, n, blocks, l.Width), Reshape(c, runs, blocks, size, l.Width))
		return Reshape(out, runs, n, blocks*size)
	}
	return l.join(2, func(_ int, rows, index SliceAxisSpec) *Node {
		return Einsum("rnz,rpz->rnp", Slice(z, AxisRange(), AxisRange(), index), Slice(c, AxisRange(), rows))
	})
}

// Outer returns the mean over the indices of e z^T within the layout, [runs, rows, Width]. e is [runs, n, rows], and z
// are indices, [runs, n, IndexDim]. The result is the gradient of mean_z <e(z), B z> with respect to the entries of B.
func (l Layout) Outer(e, z *Node) *Node {
	runs, n, blocks := z.Shape().Dim(0), z.Shape().Dim(1), len(l.Sizes)
	var sum *Node
	switch size := l.uniform(); {
	case blocks == 1:
		sum = Einsum("rnp,rnz->rpz", e, z)
	case size == 1:
		sum = ReduceSum(Mul(InsertAxes(e, -1), Reshape(z, runs, n, blocks, l.Width)), 1)
	case size > 0:
		sum = Einsum("rnbp,rnbz->rbpz", Reshape(e, runs, n, blocks, size), Reshape(z, runs, n, blocks, l.Width))
		sum = Reshape(sum, runs, blocks*size, l.Width)
	default:
		sum = l.join(1, func(_ int, rows, index SliceAxisSpec) *Node {
			part := func(x *Node, of SliceAxisSpec) *Node { return Slice(x, AxisRange(), AxisRange(), of) }
			return Einsum("rnp,rnz->rpz", part(e, rows), part(z, index))
		})
	}
	return MulScalar(sum, 1/float64(n))
}

// MulT returns B^T v, [runs, IndexDim]. c is the entries of B, [runs, rows, Width], and v is [runs, rows].
func (l Layout) MulT(c, v *Node) *Node {
	runs, all := c.Shape().Dim(0), Mul(c, InsertAxes(v, -1))
	if size := l.uniform(); size > 0 {
		return Reshape(ReduceSum(Reshape(all, runs, len(l.Sizes), size, l.Width), 2), runs, l.IndexDim())
	}
	return l.join(1, func(_ int, rows, _ SliceAxisSpec) *Node { return ReduceSum(Slice(all, AxisRange(), rows), 1) })
}

// Spread returns, for each row, the part of z [runs, IndexDim] that the row depends on: [runs, rows, Width].
func (l Layout) Spread(z *Node) *Node {
	runs, blocks := z.Shape().Dim(0), len(l.Sizes)
	if size := l.uniform(); size > 0 {
		parts := BroadcastToDims(Reshape(z, runs, blocks, 1, l.Width), runs, blocks, size, l.Width)
		return Reshape(parts, runs, blocks*size, l.Width)
	}
	return l.join(1, func(size int, _, index SliceAxisSpec) *Node {
		return BroadcastToDims(InsertAxes(Slice(z, AxisRange(), index), 1), runs, size, l.Width)
	})
}

// Expand returns the full matrix with the given entries, and with zeros outside the layout: [runs, rows, IndexDim].
func (l Layout) Expand(c *Node) *Node {
	at := 0
	return l.join(1, func(_ int, rows, _ SliceAxisSpec) *Node {
		at += l.Width
		return Pad(Slice(c, AxisRange(), rows), ScalarZero(c.Graph(), c.DType()), compute.PadAxis{}, compute.PadAxis{},
			compute.PadAxis{Start: at - l.Width, End: l.IndexDim() - at})
	})
}

// Restrict returns the entries of a full matrix [runs, rows, IndexDim] that are within the layout: [runs, rows, Width].
func (l Layout) Restrict(full *Node) *Node {
	return l.join(1, func(_ int, rows, index SliceAxisSpec) *Node { return Slice(full, AxisRange(), rows, index) })
}
