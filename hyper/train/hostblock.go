package train

import (
	"sync/atomic"

	"github.com/hypermodels/hypermodels/hyper/internal/dot"
	"github.com/hypermodels/hypermodels/hyper/internal/root"
)

// hostBlock is what is known of a block of theta: see standard.go for y and one, nil without Standardize.
type hostBlock struct {
	root       *root.Triangle
	mu, y, one []float64
	learned    bool         // a datum made the root, which no other block has
	posteriors atomic.Int32 // that have the block and are held
}

// part is where an entry of size numbers a block is.
func (b *hostBlock) part(name string) *[]float64 {
	return map[string]*[]float64{"nu.0": &b.mu, "response.y": &b.y, "response.one": &b.one}[name]
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
	missed, out := y-dot.Product(phi, theta), make([]float64, len(theta))
	for i, v := range theta {
		out[i] = v + gain[i]*missed
	}
	return out
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
