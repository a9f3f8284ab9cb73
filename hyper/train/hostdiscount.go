package train

import (
	"math"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/internal/span"
)

// turns returns how this posterior's blocks and coordinates take turns, and the number of the next datum in its turn:
// see turns.turn.
func (p HostPosterior) turns() (t turns, turn int) {
	t = Config{Discount: p.discount}.turns(len(p.blocks), p.size())
	return t, max(int(math.Mod(p.turn, float64(t.data))), 0)
}

// forget returns the posterior after a visit to some blocks, before a datum on the given block, and the factor for that
// datum's weight: see posterior.forget. The visited blocks are new copies. ok is false if the posterior would not be
// finite.
func (p HostPosterior) forget(block int) (next HostPosterior, times float64, ok bool) {
	t, turn := p.turns()
	next = p
	next.count, next.m2 = p.count*p.discount, p.m2*p.discount
	next.blocks = slices.Clone(p.blocks)
	next.evidence.age(p.discount)
	first, from := turn%t.wait*t.atOnce, turn/t.wait*t.each
	for i := first; i < min(first+t.atOnce, len(p.blocks)); i++ {
		last := p.blocks[i]
		own := p.newBlock(last)
		own.mu, own.y, own.one = slices.Clone(last.mu), slices.Clone(last.y), slices.Clone(last.one)
		for j, of := range p.parts {
			some := span.Span{From: max(from, of.From), To: min(from+t.each, of.To)}
			some.To = max(some.To, some.From)
			gains, ok := last.roots[j].ForgetInto(own.roots[j], t.by(), some.From-of.From, some.To-of.From, t.weight())
			if !ok {
				return next, 0, false
			}
			for k, gain := range gains {
				missed, missedOne := own.toPrior(of, some.From+k, gain)
				next.evidence.add(j, t.weight()/p.rho, 1-gain[some.From+k-of.From], missed, missedOne)
			}
		}
		next.blocks[i] = own
	}
	next.turn = float64((turn + 1) % t.data)
	return next, math.Pow(p.discount, -float64(t.waited(turn, block))), true
}
