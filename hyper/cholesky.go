package hyper

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
)

// cholesky returns the lower triangular roots of positive semidefinite matrices, [runs, n, n]. A column is 0 if
// rounding leaves nothing of its pivot.
func cholesky(m *Node) *Node {
	n, columns := m.Shape().Dim(1), []*Node{}
	if n > mostColumns {
		return choleskyLoop(m)
	}
	row := Iota(m.Graph(), shapes.Make(dtypes.Int32, 1, n), 1)
	for j := range n {
		at := func(x *Node) *Node { return Slice(x, AxisRange(), AxisRange(j, j+1)) }
		c := Squeeze(Slice(m, AxisRange(), AxisRange(), AxisRange(j, j+1)), 2)
		whole := at(c)
		for _, before := range columns {
			c = Sub(c, Mul(before, at(before)))
		}
		left := at(c)
		some := GreaterThan(left, MulScalar(whole, 1e-6))
		inverse := Where(some, Rsqrt(Where(some, left, OnesLike(left))), ZerosLike(left))
		below := GreaterOrEqual(row, Const(m.Graph(), int32(j)))
		c = Mul(c, inverse)
		columns = append(columns, Where(BroadcastToShape(below, c.Shape()), c, ZerosLike(c)))
	}
	return Stack(columns, 2)
}

// mostColumns is the largest number of columns that cholesky builds one after the other. The number of nodes grows with
// the square of the number of columns.
const mostColumns = 32

// choleskyLoop computes the same as cholesky in a loop of the graph, one column in each round.
func choleskyLoop(m *Node) *Node {
	g, runs, n := m.Graph(), m.Shape().Dim(0), m.Shape().Dim(1)
	at := func(axis int) *Node { return Iota(g, shapes.Make(dtypes.Int32, runs, n, n), axis) }
	is := ConvertDType(Equal(at(1), at(2)), m.DType())
	below := ConvertDType(GreaterOrEqual(at(2), at(1)), m.DType())
	return loop.Repeat(n, []*Node{ZerosLike(m)}, []**Node{&m, &is, &below}, func(j loop.Index, factor []*Node) []*Node {
		own, whole := j.Rows(is, 1), j.Rows(m, 1) // [runs, 1, n]
		before := ReduceAndKeep(Mul(factor[0], j.Rows(factor[0], 1)), ReduceSum, 2)
		c := Sub(whole, TransposeAllAxes(before, 0, 2, 1))
		left := ReduceAndKeep(Mul(c, own), ReduceSum, 2)
		some := GreaterThan(left, MulScalar(ReduceAndKeep(Mul(whole, own), ReduceSum, 2), 1e-6))
		inverse := Where(some, Rsqrt(Where(some, left, OnesLike(left))), ZerosLike(left))
		c = Mul(Mul(c, inverse), j.Rows(below, 1))
		return []*Node{Add(factor[0], Mul(TransposeAllAxes(c, 0, 2, 1), own))}
	})[0]
}
