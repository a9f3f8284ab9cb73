package train

import (
	"slices"
	"sync"
	"sync/atomic"

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
	h = HostTrainer{belief: b, rho: float64(priorVar) / float64(noiseVar), standardize: t.Standardize, spare: new(sync.Pool)}
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

// HostPosterior is what an [Exact] trainer knows, in plain Go: see [HostTrainer]. It never changes, and is safe for
// concurrent use. Those before and after a datum share all blocks but the datum's.
//
// Who makes one holds it. Where the last holder drops it, the memory of roots that no other has is used again; without
// Drop it is the garbage collector's.
type HostPosterior struct {
	HostTrainer
	params          hyper.HostParams // Fixed and Compiled
	blocks          []*hostBlock
	count, mean, m2 float64 // of the responses
	turn            float64 // see discount.go
	holders         *atomic.Int32
}

// hostBlock is what is known of a block of theta: see standard.go for y and one, nil without Standardize.
type hostBlock struct {
	root       *root.Triangle
	mu, y, one []float64
	learned    bool         // a datum made the root, which no other block has
	posteriors atomic.Int32 // that have the block and are held
}

// Hold adds a holder, and returns the posterior.
func (p *HostPosterior) Hold() *HostPosterior {
	p.holders.Add(1)
	return p
}

// Drop ends the hold of one holder, who does not use the posterior any more.
func (p *HostPosterior) Drop() {
	if p.holders.Add(-1) > 0 {
		return
	}
	for _, b := range p.blocks {
		if b.posteriors.Add(-1) == 0 && b.learned {
			p.spare.Put(b.root)
		}
	}
}

// held is a new posterior with one holder.
func (p *HostPosterior) held() *HostPosterior {
	p.holders = new(atomic.Int32)
	for _, b := range p.blocks {
		b.posteriors.Add(1)
	}
	return p.Hold()
}

// Posterior returns that of the entries of a state. entry calls read with the numbers of one of Names, which read does
// not keep. A root that is not triangular, as programs leave it, is made so, in O(size^3) a block. params have Fixed and
// Compiled.
func (h HostTrainer) Posterior(params hyper.HostParams, entry func(name string, read func([]float64)) error) (
	*HostPosterior, error) {
	blocks, n := h.belief.HostBlocks()
	p := &HostPosterior{HostTrainer: h, params: params, blocks: make([]*hostBlock, blocks)}
	for i := range p.blocks {
		p.blocks[i] = new(hostBlock)
	}
	for _, name := range h.Names() {
		err := entry(name, func(x []float64) {
			if number := p.number(name); number != nil {
				*number = x[0]
				return
			}
			for i, b := range p.blocks {
				if name == "nu.1" {
					b.root = root.NewTriangle(n, x[i*n*n:(i+1)*n*n])
					if b.root.Equal(p.blocks[0].root) { // as all are before data
						b.root = p.blocks[0].root
					}
				} else {
					*b.part(name) = slices.Clone(x[i*n : (i+1)*n])
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return p.held(), nil
}

// number is where an entry of one number is; nil is none.
func (p *HostPosterior) number(name string) *float64 {
	return map[string]*float64{"response.count": &p.count, "response.mean": &p.mean, "response.m2": &p.m2,
		"discount.turn": &p.turn}[name]
}

// part is where an entry of size numbers a block is.
func (b *hostBlock) part(name string) *[]float64 {
	return map[string]*[]float64{"nu.0": &b.mu, "response.y": &b.y, "response.one": &b.one}[name]
}

// Write writes the numbers of one of Names, as a state has them.
func (p *HostPosterior) Write(name string, out []float64) {
	if number := p.number(name); number != nil {
		out[0] = *number
		return
	}
	each := len(out) / len(p.blocks)
	for i, b := range p.blocks {
		if own := out[i*each : (i+1)*each]; name == "nu.1" {
			b.root.Write(own)
		} else {
			copy(own, *b.part(name))
		}
	}
}

// Observe returns the posterior with a datum of a weight: what [Trainer.Observe] does, up to rounding and a rotation of
// the datum's root. ok is false where it would not be finite.
func (p *HostPosterior) Observe(x []float32, y, weight float32) (next *HostPosterior, ok bool) {
	_, n := p.belief.HostBlocks()
	narrow, phi := make([]float32, n), make([]float64, n)
	at := p.belief.HostPhi(p.params, x, narrow)
	for i, v := range narrow {
		phi[i] = float64(v)
	}
	copied, ok := *p, true
	if next = &copied; p.discount > 0 {
		if copied, ok = p.forget(); !ok {
			return nil, false
		}
	} else {
		next.blocks = slices.Clone(p.blocks)
	}
	last := next.blocks[at]
	own := &hostBlock{root: last.root, mu: last.mu, y: last.y, one: last.one, learned: true}
	if p.discount == 0 {
		own.root = p.spareRoot(n)
	}
	gain, ok := last.root.UpdateInto(own.root, phi, p.rho*float64(weight))
	if !ok {
		return nil, false
	}
	own.move(phi, gain, float64(y), 1)
	next.blocks[at] = own
	if p.standardize {
		next.respond(float64(y))
	}
	for _, x := range [][]float64{own.mu, own.y, own.one, {next.mean, next.m2}} {
		if slices.ContainsFunc(x, func(v float64) bool { return v-v != 0 }) {
			return nil, false
		}
	}
	return next.held(), true
}

// spareRoot is one to write to.
func (h HostTrainer) spareRoot(n int) *root.Triangle {
	if spare, is := h.spare.Get().(*root.Triangle); is {
		return spare
	}
	return root.Empty(n)
}

// move moves a new block's means by a datum with its gain, whose response is y, among ones one.
func (b *hostBlock) move(phi, gain []float64, y, one float64) {
	if b.y == nil {
		b.mu = moved(b.mu, phi, gain, y)
		return
	}
	b.y, b.one = moved(b.y, phi, gain, y), moved(b.one, phi, gain, one)
}

// moved is theta after a datum phi with its gain, whose response is y.
func moved(theta, phi, gain []float64, y float64) []float64 {
	missed, out := y-dot(phi, theta), make([]float64, len(theta))
	for i, v := range theta {
		out[i] = v + gain[i]*missed
	}
	return out
}

// respond is State.count.
func (p *HostPosterior) respond(y float64) {
	off := y - p.mean
	p.count++
	p.mean += off / p.count
	p.m2 += off * (y - p.mean)
}

// dot is the sum of products, added up in an order that does not depend on where vectors lie in memory.
func dot(x, y []float64) float64 {
	var a, b, c, d float64
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += x[i] * y[i]
		b += x[i+1] * y[i+1]
		c += x[i+2] * y[i+2]
		d += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		a += x[i] * y[i]
	}
	return a + b + c + d
}

// Responses are the entries of a state that begin with "response." and have one number: see [Trainer.HostResponses].
func (p *HostPosterior) Responses() map[string][]float64 {
	if !p.standardize {
		return nil
	}
	return map[string][]float64{"response.count": {p.count}, "response.mean": {p.mean}, "response.m2": {p.m2}}
}

// Sample draws functions of the belief, as the loss sees them.
func (p *HostPosterior) Sample() hyper.HostSample {
	params := p.params
	params.Blocks = make([]hyper.HostBlock, len(p.blocks))
	mean, sd := 0.0, 1.0
	if p.standardize {
		mean, sd = hostResponses(p.Responses())
	}
	for i, b := range p.blocks {
		params.Blocks[i] = hostView{b, mean, sd}
	}
	return p.belief.OnHost(params)
}

// hostView is a block as responses with a mean and a standard deviation make it: see solution.
type hostView struct {
	*hostBlock
	mean, sd float64
}

func (v hostView) Moments(phi, root []float32) (mean float32) {
	v.root.Project(phi, root)
	var mu, y, one float64
	for i, f := range phi {
		f := float64(f)
		mu += f * v.mu[i]
		if v.y != nil {
			y, one = y+f*v.y[i], one+f*v.one[i]
		}
	}
	return float32(mu + (y-v.mean*one)/v.sd)
}
