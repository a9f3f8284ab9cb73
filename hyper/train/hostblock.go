package train

import (
	"slices"
	"sync/atomic"

	"github.com/hypermodels/hypermodels/hyper/internal/dot"
	"github.com/hypermodels/hypermodels/hyper/internal/root"
	"github.com/hypermodels/hypermodels/hyper/internal/span"
)

// hostBlock is the posterior of one block of theta. standard.go describes y and one, which are nil without Standardize.
type hostBlock struct {
	roots      []*root.Triangle // one for each part
	mu, y, one []float64
	learned    bool         // a datum made the roots, so that no other block shares them
	posteriors atomic.Int32 // number of held posteriors that have the block
}

// part returns the field for an entry that has size numbers for each block.
func (b *hostBlock) part(name Entry) *[]float64 {
	return map[Entry]*[]float64{"nu.0": &b.mu, "response.y": &b.y, "response.one": &b.one}[name]
}

// move moves a new block's means of one part by a datum phi with the part's gain. y is the datum's response. one is the
// response for the entry that learns responses of one. move returns the prediction errors of the old means for y and
// for one.
func (b *hostBlock) move(of span.Span, phi, gain []float64, y, one float64) (missed, missedOne float64) {
	if b.y == nil {
		return moved(&b.mu, of, phi, gain, y), 0
	}
	return moved(&b.y, of, phi, gain, y), moved(&b.one, of, phi, gain, one)
}

// toPrior moves a new block's own means of one part, in place, by a datum with response 0 on one coordinate, with the
// gain in the part. It returns the old means at the coordinate: the prediction errors with the opposite sign.
func (b *hostBlock) toPrior(of span.Span, coordinate int, gain []float64) (missed, missedOne float64) {
	move := func(theta []float64) (missed float64) {
		if theta == nil {
			return 0
		}
		missed = theta[coordinate]
		for k, v := range gain {
			theta[of.From+k] -= float64(v * missed)
		}
		return missed
	}
	if b.y == nil {
		return move(b.mu), 0
	}
	move(b.mu)
	return move(b.y), move(b.one)
}

// moved replaces theta by its value after a datum phi with response y and the gain of one part. It returns the
// difference between y and the prediction of the old theta.
func moved(theta *[]float64, of span.Span, phi, gain []float64, y float64) (missed float64) {
	own := (*theta)[of.From:of.To]
	missed = y - dot.Product(phi[of.From:of.To], own)
	out := slices.Clone(*theta)
	for i, v := range own {
		out[of.From+i] = v + gain[i]*missed
	}
	*theta = out
	return missed
}

// missOne returns the prediction error at phi for a response of one, by the part of theta that learns responses of one.
// Without Standardize it returns 0.
func (b *hostBlock) missOne(of span.Span, phi []float64) float64 {
	if b.one == nil {
		return 0
	}
	return 1 - dot.Product(phi, b.one[of.From:of.To])
}

// hostView is a block for responses that have a mean and a standard deviation: see solution.
type hostView struct {
	*hostBlock
	parts    []span.Span
	mean, sd float64
}

func (v hostView) Moments(part int, phi, root []float32) (mean float32) {
	v.roots[part].Project(phi, root)
	from := v.parts[part].From
	var mu, y, one float64
	for i, f := range phi {
		f := float64(f)
		mu += f * v.mu[from+i]
		if v.y != nil {
			y, one = y+f*v.y[from+i], one+f*v.one[from+i]
		}
	}
	return float32(mu + (y-v.mean*one)/v.sd)
}
