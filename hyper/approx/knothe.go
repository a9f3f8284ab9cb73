package approx

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// knothe is the Knothe-Rosenblatt map to a Gaussian mixture, clipped to [-bound, bound]. f_i is the quantile, at the
// level of z_i, of the conditional distribution of the i-th value given f_1, ..., f_{i-1}. That distribution is a
// mixture of the components' conditional distributions with their posterior weights. For one component N(m, L L^T) the
// map is m + L q(z), where q is the normal quantile, or the identity for Gaussian z.
type knothe struct {
	reference Reference
	bound     float64
	pieces    []piece
}

// piece is a component: the logarithm of its weight, its mean, and the rows of the Cholesky factor L of its covariance.
type piece struct {
	weight float64
	mean   []float64
	l      [][]float64
}

// At writes H(z) to f.
func (h *knothe) At(z, f []float64) {
	e := rows(len(h.pieces), len(z)) // L^-1 (f - mean) of each component, for the values so far
	weights := make([]float64, len(h.pieces))
	for c, p := range h.pieces {
		weights[c] = p.weight
	}
	at := make([]normal, len(h.pieces))
	for i, zi := range z {
		for c, p := range h.pieces {
			at[c] = normal{mean: p.mean[i], sd: p.l[i][i]}
			for j := range i {
				at[c].mean += p.l[i][j] * e[c][j]
			}
		}
		f[i] = mixtureQuantile(at, weights, h.reference, zi)
		for c, n := range at {
			e[c][i] = (f[i] - n.mean) / n.sd
			weights[c] -= e[c][i]*e[c][i]/2 + math.Log(n.sd)
		}
	}
	clip(f, h.bound)
}

// normal is a normal distribution on the line.
type normal struct{ mean, sd float64 }

// mixtureQuantile returns the quantile of a mixture at the level of z. The mixture has the given logarithms of weights.
func mixtureQuantile(parts []normal, logWeights []float64, r Reference, z float64) float64 {
	q := r.normal(z)
	low, high := math.Inf(1), math.Inf(-1) // the mixture's quantile is between the quantiles of its parts
	for _, n := range parts {
		low, high = min(low, n.mean+n.sd*q), max(high, n.mean+n.sd*q)
	}
	if low == high || math.IsInf(q, 0) {
		return low
	}
	weights, sign := shares(logWeights), 1.0
	if q > 0 { // solve for the upper tail, which has the better relative precision
		sign = -1
	}
	return solve(low, high, func(t float64) (excess, slope float64) {
		excess = -cumulative(sign * q)
		for c, n := range parts {
			x := (t - n.mean) / n.sd
			excess += weights[c] * cumulative(sign*x)
			slope += weights[c] * math.Exp(-x*x/2) / (n.sd * math.Sqrt(2*math.Pi))
		}
		return sign * excess, slope
	})
}

// shares returns weights with sum 1 from their logarithms.
func shares(logs []float64) []float64 {
	out, total := slices.Clone(logs), floats.LogSumExp(logs)
	for i := range out {
		out[i] = math.Exp(out[i] - total)
	}
	return out
}

// solve returns the zero of an increasing function within [low, high]. It makes Newton steps if they stay inside and
// shrink the interval, else bisection steps.
func solve(low, high float64, f func(t float64) (value, slope float64)) float64 {
	t := (low + high) / 2
	tolerance := 1e-13 * (1 + math.Abs(low) + math.Abs(high))
	for range 200 {
		value, slope := f(t)
		if value > 0 {
			high = t
		} else {
			low = t
		}
		next := t - value/slope
		if !(next > low && next < high) {
			next = (low + high) / 2
		}
		if math.Abs(next-t) <= tolerance || high-low <= tolerance {
			return next
		}
		t = next
	}
	return t
}
