package train

import (
	"sync"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/promoted"
	"github.com/hypermodels/hypermodels/hyper/internal/root"
	"github.com/hypermodels/hypermodels/hyper/internal/span"
)

// HostTrainer makes [Exact] training of a hyper.HostConjugate belief in plain Go, for one run: a datum costs what its
// own block of theta does, O(size^2), however many blocks there are.
type HostTrainer struct {
	belief      hyper.HostConjugate
	parts       []span.Span // of a block's numbers
	rho, noise  float64
	standardize bool
	discount    float64      // 0 is none
	spare       []*sync.Pool // of roots of each part that nobody reads any more
}

// OnHost returns the trainer in plain Go, for the variances of [Rates]. ok is false where programs must train: of other
// beliefs, and of those of one block, whose state is copied anyway.
func (t Trainer) OnHost(priorVar, noiseVar float32) (h HostTrainer, ok bool) {
	b, is := t.Belief.(hyper.HostConjugate)
	if !is || promoted.By[hyper.HostConjugate](b) || t.Integrate != Exact {
		return h, false
	}
	if b.HostBlocks() < 2 {
		return h, false
	}
	h = HostTrainer{belief: b, parts: span.Of(b.Parts()), rho: float64(priorVar) / float64(noiseVar),
		noise: float64(noiseVar), standardize: t.Standardize}
	for range h.parts {
		h.spare = append(h.spare, new(sync.Pool))
	}
	if t.discounts() {
		h.discount = t.Discount
	}
	return h, true
}

// Names are the entries of a [State] that a [HostPosterior] holds: all that data change.
func (h HostTrainer) Names() []string {
	names := []string{"nu.0", "nu.1"}
	if h.twoParts() {
		names = append(names, "nu.2", "nu.3", "evidence.data", "evidence.sums")
	}
	if h.standardize {
		names = append(names, "response.count", "response.m2", "response.mean", "response.one", "response.y")
	}
	if h.discount > 0 {
		names = append(names, "discount.turn")
	}
	return names
}

func (h HostTrainer) twoParts() bool { return len(h.parts) == 2 }

// size is that of a block, all parts together.
func (h HostTrainer) size() int { return h.parts[len(h.parts)-1].To }

// newBlock is a block after another, with roots to write to.
func (h HostTrainer) newBlock(after *hostBlock) *hostBlock {
	out := &hostBlock{mu: after.mu, y: after.y, one: after.one, learned: true}
	for j, of := range h.parts {
		if spare, is := h.spare[j].Get().(*root.Triangle); is {
			out.roots = append(out.roots, spare)
		} else {
			out.roots = append(out.roots, root.Empty(of.Size()))
		}
	}
	return out
}
