package train

import (
	"slices"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/root"
)

// Posterior returns the posterior that the entries of a state describe. entry calls read with the numbers of the entry
// that it is asked for, one of Names; read does not keep the slice. A root that is not triangular, as programs leave
// it, is made triangular, in O(size^3) for each block. params must have Fixed and Compiled. The error is the first
// error of entry.
func (h HostTrainer) Posterior(params hyper.HostParams, entry func(name Entry, read func([]float64)) error) (
	*HostPosterior, error) {
	p := &HostPosterior{HostTrainer: h, params: params, blocks: make([]*hostBlock, h.belief.HostBlocks())}
	for i := range p.blocks {
		p.blocks[i] = &hostBlock{roots: make([]*root.Triangle, len(h.parts))}
	}
	for _, name := range h.Names() {
		err := entry(name, func(x []float64) {
			switch number, part := p.number(name), p.rootOf(name); {
			case number != nil:
				*number = x[0]
			case name == "evidence.sums":
				copy(p.evidence.sums[0][:], x)
				copy(p.evidence.sums[1][:], x[evidenceSums:])
			case part >= 0:
				p.readRoots(part, x)
			default:
				for i, b := range p.blocks {
					*b.part(name) = slices.Clone(x[i*h.size() : (i+1)*h.size()])
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return p.held(), nil
}

// readRoots reads the roots of a part. A block shares the root of the first block if the two are equal, as before any
// data.
func (p *HostPosterior) readRoots(part int, x []float64) {
	n, first := p.parts[part].Size(), p.blocks[0].roots
	for i, b := range p.blocks {
		own := root.NewTriangle(n, x[i*n*n:(i+1)*n*n])
		if i > 0 && own.Equal(first[part]) {
			own = first[part]
		}
		b.roots[part] = own
	}
}

// rootOf returns the part whose roots an entry holds, or a negative number if the entry holds no roots.
func (p *HostPosterior) rootOf(name Entry) int {
	switch {
	case name == "nu.1":
		return 0
	case name == "nu.2":
		return 1
	}
	return -1
}

// number returns the field for an entry of one number, or nil for other entries.
func (p *HostPosterior) number(name Entry) *float64 {
	return map[Entry]*float64{"response.count": &p.count, "response.mean": &p.mean, "response.m2": &p.m2,
		"discount.turn": &p.turn, "nu.3": &p.share, "evidence.data": &p.evidence.data}[name]
}

// Write writes the numbers of one of Names to out, in the order in which a state has them.
func (p *HostPosterior) Write(name Entry, out []float64) {
	if number := p.number(name); number != nil {
		out[0] = *number
		return
	}
	if name == "evidence.sums" {
		copy(out, slices.Concat(p.evidence.sums[0][:], p.evidence.sums[1][:]))
		return
	}
	each, part := len(out)/len(p.blocks), p.rootOf(name)
	for i, b := range p.blocks {
		if own := out[i*each : (i+1)*each]; part >= 0 {
			b.roots[part].Write(own)
		} else {
			copy(own, *b.part(name))
		}
	}
}
