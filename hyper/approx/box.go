package approx

import "math"

// Box replaces the ball B_eta of section 6's theorem. For Gaussian z the network is near H if |z_i| <= Eta for all i,
// and 0 outside a slightly larger box. The appendix uses a Euclidean ball. The proof only needs that the set is
// bounded, so that H' is integrable, and that its probability is at least 1 - delta/2. Both hold for a box too, and
// ReLU units can build it.
type Box struct {
	Eta  float64
	Ramp float64 // the network falls to 0 while the sum of (|z_i| - Eta)_+ grows from 0 to Ramp
}

// newBox returns the box with probability 1 - delta/4 in k dimensions. It uses half of the probability that the theorem
// may lose.
func newBox(k int, delta float64) *Box {
	side := math.Pow(1-delta/4, 1/float64(k)) // P(|z_i| <= Eta)
	return &Box{Eta: quantile((1 + side) / 2), Ramp: 0.5}
}

// reach returns the largest |z_i| at which the network is not 0.
func (b Box) reach() float64 { return b.Eta + b.Ramp }

// at returns 1 inside the box, 0 far outside, and 1 - sum_i (|z_i| - Eta)_+ / Ramp in between.
func (b Box) at(z []float64) float64 {
	out := 0.0
	for _, v := range z {
		out += max(math.Abs(v)-b.Eta, 0)
	}
	return max(1-out/b.Ramp, 0)
}

// outside adds units, and returns their sum: the sum of (|z_i| - Eta)_+.
func (b Box) outside(w *builder, z []form) form {
	var sum form
	for _, v := range z {
		sum = sum.and(w.unit(v.plus(-b.Eta))).and(w.unit(v.times(-1).plus(-b.Eta)))
	}
	return sum
}

// inside adds the unit with the box's value. out is the result of outside.
func (b Box) inside(w *builder, out form) form { return w.unit(out.times(-1 / b.Ramp).plus(1)) }
