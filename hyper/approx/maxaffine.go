package approx

import (
	"context"
	"math"
	"slices"
)

// Name returns "max-affine".
func (*brenier) Name() string { return "max-affine" }

// Build returns a network that computes the scores s_j = z^T y_j + b_j, their maximum by a tree of ReLU maxima
// max(a, c) = c + ReLU(a - c), and the sum over j of y_j ReLU(1 - S (max - s_j)) with a large S. At level 0, S is
// chosen so that a second score is within 1/S of the largest with probability Delta/4. Each further level halves that
// probability.
func (h *brenier) Build(_ context.Context, t Task, level int) (Network, error) {
	b := newBuilder(t.K)
	z := b.inputs()
	if len(h.values) == 1 {
		return b.network(constants(h.values[0])), nil
	}
	low, high := t.domain()
	least := math.Inf(1)
	for j := range h.values {
		least = min(least, h.leastScore(j, low, high))
	}
	top := h.scores(z)
	for len(top) > 1 {
		z, top = b.carryAll(z, low), b.maxima(top, least)
		b.next()
	}
	steep := h.steepness(t, t.Delta/4*math.Exp2(float64(-level)))
	out := make([]form, t.K)
	for j, s := range h.scores(z) {
		chosen := b.unit(top[0].minus(s).times(-steep).plus(1))
		for i, v := range h.values[j] {
			out[i] = out[i].and(chosen.times(v))
		}
	}
	b.next()
	return b.network(out), nil
}

// maxima passes on the maxima of pairs of quantities that are at least low. A quantity without a partner is passed on
// unchanged.
func (b *builder) maxima(in []form, low float64) []form {
	var out []form
	for pair := range slices.Chunk(in, 2) {
		v := b.carry(pair[len(pair)-1], low)
		if len(pair) == 2 {
			v = v.and(b.unit(pair[0].minus(pair[1])))
		}
		out = append(out, v)
	}
	return out
}

// scores returns z^T y_j + b_j for each j.
func (h *brenier) scores(z []form) []form {
	return forms(Layer{W: h.values, B: h.offsets}, z)
}

// leastScore returns the least value of score j for z in [low, high]^K.
func (h *brenier) leastScore(j int, low, high float64) float64 {
	s := h.offsets[j]
	for _, v := range h.values[j] {
		s += min(v*low, v*high)
	}
	return s
}

// steepness returns 1/gap, where the gap between the two largest scores is smaller than gap with the given probability.
func (h *brenier) steepness(t Task, probability float64) float64 {
	const n = 20_000
	z, gaps := draws(t.Reference, source(t.Seed, "gaps"), n, t.K), make([]float64, n)
	each(n, func(i int) { _, gaps[i] = h.cell(z[i]) })
	slices.Sort(gaps)
	return 1 / gaps[max(int(probability*n), 1)]
}
