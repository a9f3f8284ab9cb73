package train

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
)

// curved is the optional method of a [Loss].
type curved interface{ Curvature() float64 }

// Curvature returns 1.
func (Gaussian) Curvature() float64 { return 1 }

// Curvature returns 1/4, the curvature at even odds.
func (LogisticLoss) Curvature() float64 { return 0.25 }

// precision returns the precision of a datum of each run without the datum's weight, [runs].
func (p problem) precision(r Rates) *Node {
	curvature := 1.0
	if c, ok := p.Loss.(curved); ok {
		curvature = c.Curvature()
	}
	return MulScalar(Reciprocal(r.NoiseVar), curvature)
}

// keep shows a Conditioned belief the input of a datum of each run.
func (p problem) keep(state State, d datum, r Rates) {
	if p.whole == nil {
		return
	}
	precision := p.precision(r)
	if d.w != nil {
		precision = Mul(precision, d.w)
	}
	for name, v := range p.whole.Keep(params(state), d.input(), precision) {
		state[keptPrefix+name] = v
	}
}

// keepAll is keep for all inputs of a replay buffer, one after the other.
func (p problem) keepAll(state State, x *Node, r Rates) {
	if p.whole == nil {
		return
	}
	if x.Rank() == 2 { // arms
		x = InsertAxes(x, -1)
	}
	at, precision := params(state), p.precision(r)
	kept, fixed := entriesOf(at.Kept), entriesOf(at.Fixed)
	reads := append(places(fixed.nodes), &x, &precision)
	kept.nodes = loop.Repeat(x.Shape().Dim(1), kept.nodes, reads, func(i loop.Index, nodes []*Node) []*Node {
		now := hyper.Params{Fixed: State{}, Kept: State{}}
		fixed.put(now.Fixed, fixed.nodes)
		kept.put(now.Kept, nodes)
		return kept.get(p.whole.Keep(now, i.Rows(x, 1), precision))
	})
	for i, name := range kept.names {
		state[keptPrefix+name] = kept.nodes[i]
	}
}
