package hyper

import (
	"errors"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Layout says which part of the index each parameter sees: the linear constraints of section 2.3. The index is cut
// into len(Sizes) consecutive parts of Width numbers, and the parameters into consecutive blocks of the given Sizes;
// the parameters of block b see part b alone. A matrix B with this structure is kept as its nonzero entries,
// [runs, sum of Sizes, Width], never as the full N_theta x N_z matrix.
type Layout struct {
	Sizes []int
	Width int
}

// Dense lets every parameter see the whole index.
func Dense(numTheta, indexDim int) Layout { return Layout{[]int{numTheta}, indexDim} }

// PerParameter gives each parameter a part of the index of its own: width 1 makes a diagonal matrix, and section 4.1's
// diag(c_1, ..., c_K) has width m.
func PerParameter(numTheta, width int) Layout {
	if numTheta < 1 {
		return Layout{nil, width} // which Validate reports
	}
	sizes := make([]int, numTheta)
	for i := range sizes {
		sizes[i] = 1
	}
	return Layout{sizes, width}
}

// PerGroup gives each group of a base model's parameters (the layers of a network) a part of the index of its own.
func PerGroup(b BaseModel, width int) Layout { return Layout{b.Groups(), width} }

// Rows is the number of parameters.
func (l Layout) Rows() int {
	n := 0
	for _, s := range l.Sizes {
		n += s
	}
	return n
}

// IndexDim is N_z, the length of the whole index.
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
func (l Layout) Equal(o Layout) bool {
	if len(l.Sizes) != len(o.Sizes) || l.Width != o.Width {
		return false
	}
	for i, s := range l.Sizes {
		if s != o.Sizes[i] {
			return false
		}
	}
	return true
}

// uniform returns the common size of the blocks, or 0 when they differ.
func (l Layout) uniform() int {
	for _, s := range l.Sizes {
		if s != l.Sizes[0] {
			return 0
		}
	}
	return l.Sizes[0]
}

// Mul returns B z for c, the entries of B [runs, rows, Width], and indices z [runs, n, IndexDim]: [runs, n, rows].
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
	parts := make([]*Node, blocks)
	row := 0
	for b, size := range l.Sizes {
		zb := Slice(z, AxisRange(), AxisRange(), AxisRange(b*l.Width, (b+1)*l.Width))
		cb := Slice(c, AxisRange(), AxisRange(row, row+size), AxisRange())
		parts[b] = Einsum("rnz,rpz->rnp", zb, cb)
		row += size
	}
	return Concatenate(parts, 2)
}

// Outer returns the mean over the indices of e z^T within the layout, [runs, rows, Width], for e [runs, n, rows] and
// indices z [runs, n, IndexDim]: the gradient of mean_z <e(z), B z> with respect to the entries of B.
func (l Layout) Outer(e, z *Node) *Node {
	runs, n, blocks := z.Shape().Dim(0), z.Shape().Dim(1), len(l.Sizes)
	scale := 1 / float64(n)
	if blocks == 1 {
		return MulScalar(Einsum("rnp,rnz->rpz", e, z), scale)
	}
	if size := l.uniform(); size == 1 {
		return MulScalar(ReduceSum(Mul(InsertAxes(e, -1), Reshape(z, runs, n, blocks, l.Width)), 1), scale)
	} else if size > 0 {
		out := Einsum("rnbp,rnbz->rbpz", Reshape(e, runs, n, blocks, size), Reshape(z, runs, n, blocks, l.Width))
		return MulScalar(Reshape(out, runs, blocks*size, l.Width), scale)
	}
	parts := make([]*Node, blocks)
	row := 0
	for b, size := range l.Sizes {
		zb := Slice(z, AxisRange(), AxisRange(), AxisRange(b*l.Width, (b+1)*l.Width))
		eb := Slice(e, AxisRange(), AxisRange(), AxisRange(row, row+size))
		parts[b] = Einsum("rnp,rnz->rpz", eb, zb)
		row += size
	}
	return MulScalar(Concatenate(parts, 1), scale)
}

// MulT returns B^T v for c, the entries of B [runs, rows, Width], and v [runs, rows]: [runs, IndexDim].
func (l Layout) MulT(c, v *Node) *Node {
	runs, blocks := c.Shape().Dim(0), len(l.Sizes)
	rows := Mul(c, InsertAxes(v, -1))
	if size := l.uniform(); size > 0 {
		return Reshape(ReduceSum(Reshape(rows, runs, blocks, size, l.Width), 2), runs, l.IndexDim())
	}
	parts, row := make([]*Node, blocks), 0
	for b, size := range l.Sizes {
		parts[b] = ReduceSum(Slice(rows, AxisRange(), AxisRange(row, row+size), AxisRange()), 1)
		row += size
	}
	return Concatenate(parts, 1)
}

// Spread returns the part of z [runs, IndexDim] that each row sees: [runs, rows, Width].
func (l Layout) Spread(z *Node) *Node {
	runs, blocks := z.Shape().Dim(0), len(l.Sizes)
	if size := l.uniform(); size > 0 {
		parts := BroadcastToDims(Reshape(z, runs, blocks, 1, l.Width), runs, blocks, size, l.Width)
		return Reshape(parts, runs, blocks*size, l.Width)
	}
	parts := make([]*Node, blocks)
	for b, size := range l.Sizes {
		part := Slice(z, AxisRange(), AxisRange(b*l.Width, (b+1)*l.Width))
		parts[b] = BroadcastToDims(InsertAxes(part, 1), runs, size, l.Width)
	}
	return Concatenate(parts, 1)
}

// Expand returns the full matrix [runs, rows, IndexDim] with the given entries and zeros outside the layout.
func (l Layout) Expand(c *Node) *Node {
	runs, row := c.Shape().Dim(0), 0
	parts := make([]*Node, len(l.Sizes))
	for b, size := range l.Sizes {
		cb := Slice(c, AxisRange(), AxisRange(row, row+size), AxisRange())
		parts[b] = Pad(cb, ScalarZero(c.Graph(), c.DType()), compute.PadAxis{}, compute.PadAxis{},
			compute.PadAxis{Start: b * l.Width, End: (len(l.Sizes) - 1 - b) * l.Width})
		row += size
	}
	return Reshape(Concatenate(parts, 1), runs, row, l.IndexDim())
}

// Restrict returns the entries within the layout, [runs, rows, Width], of a full matrix [runs, rows, IndexDim].
func (l Layout) Restrict(full *Node) *Node {
	row := 0
	parts := make([]*Node, len(l.Sizes))
	for b, size := range l.Sizes {
		parts[b] = Slice(full, AxisRange(), AxisRange(row, row+size), AxisRange(b*l.Width, (b+1)*l.Width))
		row += size
	}
	return Concatenate(parts, 1)
}
