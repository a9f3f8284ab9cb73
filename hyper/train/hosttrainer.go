package train

import (
	"sync"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/promoted"
	"github.com/hypermodels/hypermodels/hyper/internal/root"
)

// HostTrainer makes [Exact] training of a hyper.HostConjugate belief in plain Go, for one run: a datum costs what its
// own block of theta does, O(size^2), however many blocks there are.
type HostTrainer struct {
	belief      hyper.HostConjugate
	rho         float64
	standardize bool
	discount    float64    // 0 is none
	spare       *sync.Pool // of roots that nobody reads any more
}

// OnHost returns the trainer in plain Go, for the variances of [Rates]. ok is false where programs must train: of other
// beliefs, and of those of one block, whose state is copied anyway.
func (t Trainer) OnHost(priorVar, noiseVar float32) (h HostTrainer, ok bool) {
	b, is := t.Belief.(hyper.HostConjugate)
	if !is || promoted.By[hyper.HostConjugate](b) || t.Integrate != Exact {
		return h, false
	}
	if blocks, _ := b.HostBlocks(); blocks < 2 {
		return h, false
	}
	h = HostTrainer{belief: b, rho: float64(priorVar) / float64(noiseVar), standardize: t.Standardize,
		spare: new(sync.Pool)}
	if t.discounts() {
		h.discount = t.Discount
	}
	return h, true
}

// Names are the entries of a [State] that a [HostPosterior] holds: all that data change.
func (h HostTrainer) Names() []string {
	names := []string{"nu.0", "nu.1"}
	if h.standardize {
		names = append(names, "response.count", "response.m2", "response.mean", "response.one", "response.y")
	}
	if h.discount > 0 {
		names = append(names, "discount.turn")
	}
	return names
}

// spareRoot is one to write to.
func (h HostTrainer) spareRoot(n int) *root.Triangle {
	if spare, is := h.spare.Get().(*root.Triangle); is {
		return spare
	}
	return root.Empty(n)
}
