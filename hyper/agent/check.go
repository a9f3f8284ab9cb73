package agent

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/support/exceptions"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/learner"
)

// checkBelief reports a belief that does not predict one number for each input of Features numbers. If there are no
// features, it sets the number of arms. It builds the graph of a prediction, which infers the shapes, and compiles
// nothing.
func (a *form) checkBelief() error {
	err := exceptions.TryCatch[error](func() {
		g := NewGraph(a.backend, "belief")
		defer g.Finalize()
		if a.config.Features > 0 {
			a.predict(g, Parameter(g, "features", shapes.Make(dtypes.Float32, 1, 2, a.config.Features)), 2)
			return
		}
		a.predict(g, Parameter(g, "arms", shapes.Make(dtypes.Int32, 1, 2, 1)), 2)
		a.arms = a.predict(g, nil, -1)
	})
	if err != nil {
		c := a.config
		return fmt.Errorf("Learner.Belief: %T cannot be applied to inputs of %d features: %w",
			c.Learner.Belief, c.Features, err)
	}
	return nil
}

// predict builds a prediction of three functions at n inputs x and returns n. A negative n allows any number of inputs.
func (a *form) predict(g *Graph, x *Node, n int) int {
	b := a.config.Learner.Belief
	s := learner.Streams{Seeds: Const(g, []uint64{0})}.Init()
	f := b.Predict(b.Init(s, nil), b.Index().Sample(s, 3), x)
	if n < 0 && f.Rank() == 3 {
		n = f.Shape().Dim(2)
	}
	if want := shapes.Make(dtypes.Float32, 1, 3, max(n, 0)); !f.Shape().Equal(want) {
		exceptions.Panicf("predictions have shape %s, want %s: [runs, indices, inputs]", f.Shape(), want)
	}
	return n
}
