package train

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// posterior is the way of [Exact] of a hyper.Conjugate belief: its nu is the mean mu and a root S of Q for each block,
// in float64, and a datum moves them as it does those of [exact].
type posterior struct{ problem }

func newPosterior(p problem) route { return posterior{p} }

func (w posterior) memory(g *Graph, runs int) State                        { return w.noTurn(g, runs) }
func (posterior) draw(State, rng.Stream, *Node, *Node, Rates) draws        { return draws{} }
func (posterior) gradient(State, *draws, loop.Index, *Node, Rates) []*Node { return nil }

// observe moves nu to the posterior with the datum.
func (w posterior) observe(state State, d datum, r Rates) {
	phi, block := w.Conjugate.Phi(params(state), d.input())
	rho := d.weighted(InsertAxes(Div(double(r.PriorVar), double(r.NoiseVar)), -1))
	if w.discounts() {
		rho = Mul(rho, w.forget(state, block))
	}
	phi, y := double(Squeeze(phi, 1)), InsertAxes(double(d.y), -1)
	mu, roots := state["nu.0"], state["nu.1"]
	runs, blocks, size := roots.Shape().Dim(0), roots.Shape().Dim(1), roots.Shape().Dim(2)

	own := Reshape(row.Take(Reshape(roots, runs, blocks, size*size), block), runs, size, size)
	next, gain := potter(own, phi, rho, hyper.Dense(size, 1))
	is := OneHot(Squeeze(block, 1), blocks, dtypes.Float64) // [runs, blocks]
	state["nu.1"] = Add(roots, Mul(InsertAxes(is, -1, -1), InsertAxes(Sub(next, own), 1)))

	whole := func(x *Node) *Node { return Reshape(Mul(InsertAxes(is, -1), InsertAxes(x, 1)), runs, blocks*size) }
	phi, gain = whole(phi), whole(gain)
	if w.Standardize {
		state.follow(phi, gain, y)
		return // solution moves mu
	}
	missed := Sub(y, ReduceAndKeep(Mul(phi, mu), ReduceSum, 1))
	state["nu.0"] = Add(mu, Mul(gain, missed))
}

// numTheta is N_theta of a belief with an exact minimiser.
func (p problem) numTheta() int {
	if p.Conjugate != nil {
		return p.Conjugate.NumTheta()
	}
	return p.Parametric.NumTheta()
}
