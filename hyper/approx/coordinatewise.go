package approx

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
)

// coordinatewise is the map to a single Gaussian, m + L q(z), clipped. For uniform z, its network interpolates the
// normal quantile q of each component by straight lines, and an affine map follows. For Gaussian z the affine map alone
// is exact.
type coordinatewise struct{ *knothe }

// Name returns "coordinatewise".
func (coordinatewise) Name() string { return "coordinatewise" }

// Build returns the network. Its error is below Epsilon/2^(level+1), unless a component of z is in a tail.
func (h coordinatewise) Build(_ context.Context, t Task, level int) (Network, error) {
	p, finer := h.pieces[0], math.Exp2(float64(-level))
	affine := Layer{W: p.l, B: p.mean}
	if t.Reference == Gaussian {
		return Network{Layers: []Layer{affine}}, nil
	}
	gain := 0.0 // the largest sum of magnitudes in a row of L
	for _, row := range p.l {
		gain = max(gain, floats.Norm(row, 1))
	}
	tail := t.Delta / (8 * float64(t.K)) * finer
	b := newBuilder(t.K)
	q := b.normals(b.inputs(), quantileKnots(tail, t.Epsilon/(2*gain)*finer))
	b.next()
	return b.network(forms(affine, q)), nil
}

// quantileKnots returns levels from 1/2 to 1 - tail. Straight lines between them differ from the normal quantile by at
// most the tolerance.
func quantileKnots(tail, tolerance float64) []float64 {
	knots := []float64{0.5}
	for last := 0.5; last < 1-tail; {
		next := 1 - tail
		if chordError(last, next) > tolerance {
			low, high := last, next
			for range 40 {
				if mid := (low + high) / 2; chordError(last, mid) > tolerance {
					high = mid
				} else {
					low = mid
				}
			}
			next = low
		}
		knots, last = append(knots, next), next
	}
	return knots
}

// chordError returns the largest distance between the normal quantile and its chord from level a to b, both at least
// 1/2. It is largest where the slopes are equal: 1/pdf(q) = slope.
func chordError(a, b float64) float64 {
	slope := (quantile(b) - quantile(a)) / (b - a)
	q := math.Sqrt(max(2*math.Log(slope/math.Sqrt(2*math.Pi)), 0))
	return quantile(a) + slope*(cumulative(q)-a) - q
}

// normals adds the units of interpolated normal quantiles, and returns these for each z. A ramp begins at each knot and
// changes the slope there. The interpolation is constant beyond the last knot. The ramps go from the middle to both
// sides, because a sum of large slopes that cancel would lose precision.
func (b *builder) normals(z []form, knots []float64) []form {
	out := make([]form, len(z))
	for i := range z {
		before := 0.0
		for j, knot := range knots {
			slope := 0.0
			if j+1 < len(knots) {
				slope = (quantile(knots[j+1]) - quantile(knot)) / (knots[j+1] - knot)
			}
			ramp := b.unit(z[i].plus(-knot)).minus(b.unit(z[i].times(-1).plus(1 - knot)))
			out[i] = out[i].and(ramp.times(slope - before))
			before = slope
		}
	}
	return out
}
