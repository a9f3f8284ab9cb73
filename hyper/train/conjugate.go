package train

import (
	"maps"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
	"github.com/hypermodels/hypermodels/hyper/internal/span"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// posterior is the solver of [Exact] for a hyper.Conjugate belief. nu is the mean mu and, for each block, a root S of
// Q, in float64. A datum changes mu and S as in [exact].
type posterior struct{ problem }

func newPosterior(p problem) solver { return posterior{p} }

func (w posterior) memory(g *Graph, runs int) State {
	state := w.noTurn(g, runs)
	maps.Copy(state, w.noEvidence(g, runs))
	return state
}

func (posterior) draw(State, rng.Stream, *Node, *Node, Rates) draws        { return draws{} }
func (posterior) gradient(State, *draws, loop.Index, *Node, Rates) []*Node { return nil }

// observe moves nu to the posterior after the datum.
func (w posterior) observe(state State, d datum, r Rates) {
	phi, block := w.Conjugate.Phi(params(state), d.input())
	rho := d.weighted(InsertAxes(Div(double(r.PriorVar), double(r.NoiseVar)), -1))
	if w.discounts() {
		rho = Mul(rho, w.forget(state, block, r))
	}
	phi, y := double(Squeeze(phi, 1)), InsertAxes(double(d.y), -1)
	runs, blocks := phi.Shape().Dim(0), state["nu.1"].Shape().Dim(1)
	is := OneHot(Squeeze(block, 1), blocks, dtypes.Float64) // [runs, blocks]
	var gains []*Node
	for j, of := range w.parts() {
		name, size := key("nu", 1+j), of.Size()
		roots := state[name]
		own := Reshape(row.Take(Reshape(roots, runs, blocks, size*size), block), runs, size, size)
		next, gain := potter(own, of.In(phi), rho, hyper.Dense(size, 1))
		state[name] = Add(roots, Mul(InsertAxes(is, -1, -1), InsertAxes(Sub(next, own), 1)))
		gains = append(gains, gain)
	}
	gain := besides(gains)
	whole := func(x *Node) *Node {
		return Reshape(Mul(InsertAxes(is, -1), InsertAxes(x, 1)), runs, blocks*x.Shape().Dim(1))
	}
	if w.twoParts() {
		w.learn(state, d, phi, gain, y, whole)
		w.shares(state, r)
		return
	}
	phi, gain = whole(phi), whole(gain)
	if w.Standardize {
		state.follow(phi, gain, y)
		return // solution computes mu
	}
	missed := Sub(y, ReduceAndKeep(Mul(phi, state["nu.0"]), ReduceSum, 1))
	state["nu.0"] = Add(state["nu.0"], Mul(gain, missed))
}

// parts returns the parts of the numbers of a block.
func (p problem) parts() []span.Span { return span.Of(p.Conjugate.Parts()) }

// numTheta returns N_theta of a belief with an exact minimiser.
func (p problem) numTheta() int {
	if p.Conjugate != nil {
		return p.Conjugate.NumTheta()
	}
	return p.Parametric.NumTheta()
}
