package approx

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
)

// Coordinatewise builds the map to a single Gaussian, m + L q(z). For uniform z, straight lines interpolate the normal
// quantile q of each component, and an affine map follows. For Gaussian z the affine map alone is exact.
type Coordinatewise struct{}

// Name returns "coordinatewise".
func (Coordinatewise) Name() string { return "coordinatewise" }

// Suits accepts a Knothe-Rosenblatt map to one component.
func (c Coordinatewise) Suits(h Map, _ int) error {
	if k, ok := h.(*knothe); ok && len(k.pieces) == 1 {
		return nil
	}
	return unsuited(c, "one Gaussian", h)
}

// Build returns the network. Its error is below Epsilon/2^(level+1), unless a component of z is in a tail.
func (Coordinatewise) Build(_ context.Context, t Task, level int) (Network, error) {
	p, finer := t.Map.(*knothe).pieces[0], math.Exp2(float64(-level))
	affine := Layer{W: p.l, B: p.mean}
	if t.Reference == Gaussian {
		return Network{Layers: []Layer{affine}}, nil
	}
	gain := 0.0 // the largest sum of magnitudes in a row of L
	for _, row := range p.l {
		gain = max(gain, floats.Norm(row, 1))
	}
	tail := t.Delta / (8 * float64(t.K)) * finer
	return normals(t.K, quantileKnots(tail, t.Epsilon/(2*gain)*finer)).then(Network{Layers: []Layer{affine}}), nil
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

// normals returns the network whose outputs are the interpolated normal quantiles of k inputs.
func normals(k int, knots []float64) Network {
	b := newBuilder(k)
	out := b.normals(b.inputs(), knots)
	b.next()
	return b.network(out)
}

// normals adds the units of interpolated normal quantiles. They are constant beyond the last knot. The ramps start at
// the middle and go to both sides, because a sum of large slopes that cancel would lose precision.
func (b *builder) normals(z []form, knots []float64) []form {
	out := make([]form, len(z))
	for i := range z {
		slope := func(from, to float64) float64 { return (quantile(to) - quantile(from)) / (to - from) }
		out[i] = bent(knots, slope, func(knot float64) form {
			return b.unit(z[i].plus(-knot)).minus(b.unit(z[i].times(-1).plus(1 - knot)))
		})
	}
	return out
}
