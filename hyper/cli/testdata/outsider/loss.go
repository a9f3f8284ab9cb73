package main

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/train"
)

// LogCosh is a loss outside of the library: log cosh(f - y) is about (f - y)^2 / 2 for small errors and |f - y| for
// large ones.
type LogCosh struct{}

var _ train.Loss = LogCosh{}

func (LogCosh) Value(f, y *Node) *Node {
	e := Abs(Sub(f, y))
	return Add(e, Log1p(Exp(MulScalar(e, -2)))) // up to a constant
}

func (LogCosh) Gradient(f, y *Node) *Node { return Tanh(Sub(f, y)) }

func (LogCosh) Link(f *Node) *Node { return f }

func (LogCosh) Quadratic() bool { return false }
