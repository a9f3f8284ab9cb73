package main

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/train"
)

// Signed is an optimizer outside of the library: each parameter moves by the step size, in the direction of the sign of
// its gradient, unless the gradient is at most Ignored.
type Signed struct {
	Ignored float64 `help:"largest size of a gradient that moves nothing"`
}

var _ train.Optimizer = Signed{}

func (Signed) Init([]*Node) []*Node { return nil }

func (o Signed) Update(_, nu, grads []*Node, step *Node) (state, moved []*Node) {
	for i, g := range grads {
		each := step // [runs]
		for each.Rank() < g.Rank() {
			each = InsertAxes(each, -1)
		}
		far := ConvertDType(GreaterThan(Abs(g), Const(g.Graph(), float32(o.Ignored))), g.DType())
		moved = append(moved, Sub(nu[i], Mul(each, Mul(far, Sign(g)))))
	}
	return nil, moved
}
