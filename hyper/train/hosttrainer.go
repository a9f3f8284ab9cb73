package train

import (
	"sync"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/promoted"
	"github.com/hypermodels/hypermodels/hyper/internal/root"
	"github.com/hypermodels/hypermodels/hyper/internal/span"
)

// HostTrainer runs [Exact] training of a hyper.HostConjugate belief in plain Go, for one run. A datum costs O(size^2),
// where size is the size of its own block of theta, however many blocks there are. A program copies all blocks: for 10
// blocks of 8 numbers, a program needs 5 to 35 times as much processor time for a datum (BenchmarkHost in package
// agent). The results differ from the results of programs by rounding. The bytes of an agent's file therefore depend on
// whether the agent trains in plain Go.
type HostTrainer struct {
	belief      hyper.HostConjugate
	parts       []span.Span // of the numbers of a block
	rho, noise  float64
	standardize bool
	discount    float64      // 0 is none
	spare       []*sync.Pool // for each part, unused roots
}

// OnHost returns the trainer in plain Go, for the variances of [Rates]. ok is false if programs must train: for other
// beliefs and integrations, and for beliefs of one block, whose state is copied anyway.
func (t Trainer) OnHost(priorVar, noiseVar float32) (h HostTrainer, ok bool) {
	b, is := t.Belief.(hyper.HostConjugate)
	if !is || promoted.Has[hyper.HostConjugate](b) || t.Integrate != Exact {
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

// Names returns the names of the entries of a [State] that a [HostPosterior] holds: all entries that data change.
func (h HostTrainer) Names() []Entry {
	names := []Entry{"nu.0", "nu.1"}
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

// size returns the size of a block, all parts together.
func (h HostTrainer) size() int { return h.parts[len(h.parts)-1].To }

// newBlock returns a block with the means of the block after, and with other roots to write to.
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
