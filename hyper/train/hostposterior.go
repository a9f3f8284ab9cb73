package train

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/dot"
	"github.com/hypermodels/hypermodels/hyper/internal/promoted"
)

// HostPosterior is the posterior of an [Exact] trainer in plain Go: see [HostTrainer]. A HostPosterior never changes,
// and is safe for concurrent use. The posteriors before and after a datum share all blocks that the datum does not
// change.
//
// The caller that makes a posterior is its first holder. After the last holder calls Drop, the memory of roots that no
// other posterior has is used again. Without Drop, the garbage collector frees the memory.
type HostPosterior struct {
	HostTrainer
	params          hyper.HostParams // only Fixed and Compiled
	blocks          []*hostBlock
	count, mean, m2 float64 // of the responses
	turn            float64 // see discount.go
	share           float64 // see evidence.go
	evidence        evidence
	holders         *atomic.Int32
}

// Hold adds a holder, and returns the same posterior; nil stays nil.
func (p *HostPosterior) Hold() *HostPosterior {
	if p != nil {
		p.holders.Add(1)
	}
	return p
}

// Drop removes a holder. The holder must not use the posterior after that. Drop of nil does nothing.
func (p *HostPosterior) Drop() {
	if p == nil || p.holders.Add(-1) > 0 {
		return
	}
	for _, b := range p.blocks {
		if b.posteriors.Add(-1) == 0 && b.learned {
			for j, own := range b.roots {
				p.spare[j].Put(own)
			}
		}
	}
}

// held counts a new posterior in each of its blocks, and returns it with one holder.
func (p *HostPosterior) held() *HostPosterior {
	p.holders = new(atomic.Int32)
	for _, b := range p.blocks {
		b.posteriors.Add(1)
	}
	return p.Hold()
}

// Observe returns the posterior after a datum of a given weight. The result equals the result of [Trainer.Observe] up
// to rounding, and up to a rotation of the root of the datum's block. ok is false if the posterior would not be finite.
func (p *HostPosterior) Observe(x []float32, y, weight float32) (next *HostPosterior, ok bool) {
	phi, at := p.phi(x)
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
	own := &hostBlock{roots: last.roots, mu: last.mu, y: last.y, one: last.one, learned: true}
	if last == p.blocks[at] { // other posteriors may read this block
		own = p.newBlock(last)
	}
	next.evidence.data += float64(weight)
	for j, of := range p.parts {
		gain, ok := last.roots[j].UpdateInto(own.roots[j], phi[of.From:of.To], rho)
		if !ok {
			return nil, false
		}
		left := max(1-dot.Product(phi[of.From:of.To], gain), leastLeft)
		missed, missedOne := own.move(of, phi, gain, float64(y), 1)
		next.evidence.sums[j][0] -= math.Log(left)
		next.evidence.add(j, float64(weight), left, missed, missedOne)
	}
	next.blocks[at] = own
	if p.standardize {
		next.respond(float64(y), float64(weight))
	}
	return next.weighed(own.mu, own.y, own.one)
}

// weighed updates the probability of the second model, and returns the posterior with one holder. ok is false if this
// probability, or one of the numbers that are new in the posterior, is not finite.
func (p *HostPosterior) weighed(numbers ...[]float64) (next *HostPosterior, ok bool) {
	numbers = append(numbers, []float64{p.mean, p.m2})
	if p.twoParts() {
		mean, sd := 0.0, 1.0
		if p.standardize {
			mean, sd = hostResponses(p.Responses())
		}
		p.share = p.evidence.share(p.noise, mean, sd)
		numbers = append(numbers, []float64{p.share}, p.evidence.sums[0][:], p.evidence.sums[1][:])
	}
	for _, x := range numbers {
		if slices.ContainsFunc(x, func(v float64) bool { return v-v != 0 }) {
			return nil, false
		}
	}
	return p.held(), true
}

// phi returns the features of an input within the input's block, and the block.
func (p *HostPosterior) phi(x []float32) (phi []float64, block int) {
	narrow := make([]float32, p.size())
	block = p.belief.HostPhi(p.params, x, narrow)
	for _, v := range narrow {
		phi = append(phi, float64(v))
	}
	return phi, block
}

// Revise returns the posterior after the response of an observed datum is corrected from was to y. age is the number of
// data observed after the datum. The result equals the result of [Trainer.Revise] up to rounding. ok is false if the
// posterior would not be finite.
func (p *HostPosterior) Revise(x []float32, was, y, weight float32, age int) (next *HostPosterior, ok bool) {
	phi, at := p.phi(x)
	left, kept := 1.0, 1.0 // the datum's weights among the responses, and in its block: see posterior.revise
	if p.discount > 0 {
		t, turn := p.turns()
		left = math.Pow(p.discount, float64(age))
		kept = left * math.Pow(p.discount, -float64(t.waited(turn-1, at)))
	}
	next = new(*p)
	next.blocks = slices.Clone(p.blocks)
	last := next.blocks[at]
	own := p.newBlock(last)
	own.mu, own.y = slices.Clone(last.mu), slices.Clone(last.y)
	theta := own.mu
	if p.standardize {
		theta = own.y
		next.recount(float64(was), float64(y), left*float64(weight))
	}
	counts, rho, by := float64(weight)*left, p.rho*float64(weight)*kept, float64(y)-float64(was)
	for j, of := range p.parts {
		last.roots[j].CopyInto(own.roots[j])
		at := phi[of.From:of.To]
		q := own.roots[j].Square(at)
		next.evidence.correct(j, counts, by, float64(was)-dot.Product(at, theta[of.From:of.To]), last.missOne(of, at),
			1-rho*dot.Product(at, q))
		for i, v := range q {
			theta[of.From+i] += rho * by * v
		}
	}
	next.blocks[at] = own
	return next.weighed(theta)
}

// recount does in plain Go what State.recount does.
func (p *HostPosterior) recount(was, y, weight float64) {
	n := max(p.count, weight)
	moved := weight * (y - was) / n
	p.m2 = max(p.m2+weight*((y-p.mean)*(y-p.mean)-(was-p.mean)*(was-p.mean))-n*moved*moved, 0)
	p.mean += moved
}

// respond does in plain Go what State.count does.
func (p *HostPosterior) respond(y, weight float64) {
	by := weight * (y - p.mean)
	p.count += weight
	p.mean += by / p.count
	p.m2 += by * (y - p.mean)
}

// Responses returns the statistics of the responses, one number each: see [Trainer.HostResponses]. It returns nil
// without Standardize.
func (p *HostPosterior) Responses() map[Entry][]float64 {
	if !p.standardize {
		return nil
	}
	return map[Entry][]float64{"response.count": {p.count}, "response.mean": {p.mean}, "response.m2": {p.m2}}
}

// Sample draws functions of the belief. Their values are in the units in which the loss sees the responses.
func (p *HostPosterior) Sample() hyper.HostSample { return p.belief.OnHost(p.hostParams()) }

// Normals returns the distribution of the values that Sample draws. It returns nil if the values are not normal, or if
// the belief does not give their distribution.
func (p *HostPosterior) Normals() hyper.HostNormals {
	b, ok := p.belief.(hyper.HostNormal)
	if !ok || promoted.Has[hyper.HostNormal](b) {
		return nil
	}
	return b.Normals(p.hostParams())
}

// hostParams returns the parameters, in the units in which the loss sees the responses.
func (p *HostPosterior) hostParams() hyper.HostParams {
	params := p.params
	params.Blocks, params.Share = make([]hyper.HostBlock, len(p.blocks)), float32(p.share)
	mean, sd := 0.0, 1.0
	if p.standardize {
		mean, sd = hostResponses(p.Responses())
	}
	for i, b := range p.blocks {
		params.Blocks[i] = hostView{b, p.parts, mean, sd}
	}
	return params
}
