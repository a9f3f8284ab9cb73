package train

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/promoted"
	"github.com/hypermodels/hypermodels/hyper/internal/root"
)

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

// Posterior returns that of the entries of a state. entry calls read with the numbers of one of Names, which read
// does not keep. A root that is not triangular, as programs leave it, is made so, in O(size^3) a block. params have
// Fixed and Compiled.
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
	phi, at := p.phi(x)
	n := len(phi)
	copied, rho, ok := *p, p.rho*float64(weight), true
	if next = &copied; p.discount > 0 {
		var times float64
		if copied, times, ok = p.forget(at); !ok {
			return nil, false
		}
		rho *= times
	} else {
		next.blocks = slices.Clone(p.blocks)
	}
	last := next.blocks[at]
	own := &hostBlock{root: last.root, mu: last.mu, y: last.y, one: last.one, learned: true}
	if last == p.blocks[at] { // which others read
		own.root = p.spareRoot(n)
	}
	gain, ok := last.root.UpdateInto(own.root, phi, rho)
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

// phi returns phi of an input, within its block.
func (p *HostPosterior) phi(x []float32) (phi []float64, block int) {
	_, n := p.belief.HostBlocks()
	narrow := make([]float32, n)
	block = p.belief.HostPhi(p.params, x, narrow)
	for _, v := range narrow {
		phi = append(phi, float64(v))
	}
	return phi, block
}

// Revise returns the posterior with another response of a datum that has been observed, with age data after it: what
// [Trainer.Revise] does, up to rounding. ok is false where it would not be finite.
func (p *HostPosterior) Revise(x []float32, was, y, weight float32, age int) (next *HostPosterior, ok bool) {
	phi, at := p.phi(x)
	left, kept := 1.0, 1.0 // the weights among the responses, and in the block: see posterior.revise
	if p.discount > 0 {
		t, turn := p.turns()
		left = math.Pow(p.discount, float64(age))
		kept = left * math.Pow(p.discount, -float64(t.waited(turn-1, at)))
	}
	copied := *p
	next = &copied
	next.blocks = slices.Clone(p.blocks)
	last := next.blocks[at]
	own := &hostBlock{root: p.spareRoot(len(phi)), mu: slices.Clone(last.mu), y: slices.Clone(last.y), one: last.one,
		learned: true}
	last.root.CopyInto(own.root)
	theta := own.mu
	if p.standardize {
		theta = own.y
		next.recount(float64(was), float64(y), left)
	}
	by := p.rho * float64(weight) * kept * (float64(y) - float64(was))
	for i, q := range own.root.Square(phi) {
		theta[i] += by * q
	}
	next.blocks[at] = own
	for _, x := range [][]float64{theta, {next.mean, next.m2}} {
		if slices.ContainsFunc(x, func(v float64) bool { return v-v != 0 }) {
			return nil, false
		}
	}
	return next.held(), true
}

// recount is State.recount.
func (p *HostPosterior) recount(was, y, weight float64) {
	n := max(p.count, 1)
	moved := weight * (y - was) / n
	p.m2 = max(p.m2+weight*((y-p.mean)*(y-p.mean)-(was-p.mean)*(was-p.mean))-n*moved*moved, 0)
	p.mean += moved
}

// respond is State.count.
func (p *HostPosterior) respond(y float64) {
	off := y - p.mean
	p.count++
	p.mean += off / p.count
	p.m2 += off * (y - p.mean)
}

// Responses are the entries of a state that begin with "response." and have one number: see [Trainer.HostResponses].
func (p *HostPosterior) Responses() map[string][]float64 {
	if !p.standardize {
		return nil
	}
	return map[string][]float64{"response.count": {p.count}, "response.mean": {p.mean}, "response.m2": {p.m2}}
}

// Sample draws functions of the belief, as the loss sees them.
func (p *HostPosterior) Sample() hyper.HostSample { return p.belief.OnHost(p.hostParams()) }

// Normals is how the values that Sample draws are distributed; it is nil where these are not normal, and of beliefs
// that do not say.
func (p *HostPosterior) Normals() hyper.HostNormals {
	b, ok := p.belief.(hyper.HostNormal)
	if !ok || promoted.By[hyper.HostNormal](b) {
		return nil
	}
	return b.Normals(p.hostParams())
}

// hostParams are the parameters, as the loss sees the responses.
func (p *HostPosterior) hostParams() hyper.HostParams {
	params := p.params
	params.Blocks = make([]hyper.HostBlock, len(p.blocks))
	mean, sd := 0.0, 1.0
	if p.standardize {
		mean, sd = hostResponses(p.Responses())
	}
	for i, b := range p.blocks {
		params.Blocks[i] = hostView{b, mean, sd}
	}
	return params
}
