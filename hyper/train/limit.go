package train

import (
	"math"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
)

// StepLimit is the step size alpha above which SGD can diverge in mean square, for data whose features have squared
// norms of at most norm2 (1 for arms), and the rates sigma_w^2, sigma_p^2 and Rates.MapStep. It is +Inf where it is not
// known: for base models that are not linear in theta, hypermodels other than linear ones and ensembles, optimizers
// other than sgd, and indices of each datum; and for Exact, which makes no steps.
//
// The loss over |D| is quadratic in theta. Its curvature is largest for a single datum, Lambda = norm2/sigma_w^2 +
// 1/sigma_p^2, and for one theta SGD is stable up to 2/Lambda. In nu a set of indices sees the curvature Lambda M, with
// M the mean of psi psi^T for psi = (1, z), or psi = z for an ensemble; MapStep multiplies z by its root. An error e
// becomes (I - alpha Lambda M) e, and E |e|^2 falls if
//
//	alpha Lambda E[M^2] < 2 E[M]
//
// With the moments of the indices this is alpha < 2 / (Lambda h), with the h of steepness. The step 1 / (Lambda h)
// forgets the fastest.
func (c Config) StepLimit(b hyper.Belief, noiseVar, priorVar, mapStep, norm2 float64) float64 {
	p := newProblem(c, b)
	if c.Integrate == Exact || p.ownIndices() || !IsLinear(c.Optimizer) || !p.linearInTheta() || p.plain() != nil {
		return math.Inf(1)
	}
	return 2 / ((norm2/noiseVar + 1/priorVar) * p.steepness(mapStep))
}

// steepness is the largest eigenvalue of E[M^2] against E[M]: see StepLimit. It is 0 where it is not known.
func (p problem) steepness(mapStep float64) float64 {
	indices := float64(p.Indices)
	if !p.sampled() {
		indices = math.Inf(1)
	}
	m := p.z.Moments()
	n := float64(p.z.Dim())
	switch {
	case p.Particles != nil:
		return average(1, 1/n, indices)
	case p.Affine == nil:
		return 0
	case p.oneHot():
		return average(1+mapStep, 1+mapStep/n, indices)
	}
	if m.Pairs == 0 {
		return 0
	}
	// A part of z with w entries has E |z|^2 = w second, and E |z|^2 z_i^2 = fourth second, where E z_i^4 is 3 times
	// E z_i^2 z_j^2.
	w, second := float64(p.Affine.Structure().Width), m.Second
	fourth := (w + 2) * m.Pairs
	switch {
	case p.IndexSet == Antithetic && p.sampled(): // mu and C do not meet
		return max(1, mapStep*average(fourth, second, indices/2))
	case p.IndexSet == Frame && p.sampled():
		return max(1, mapStep*second*framed(indices/2, float64(index.FrameSize(p.z)/2), w))
	case p.IndexSet == Axes && p.sampled(): // E z z^T is exact
		return max(1, mapStep*second)
	}
	return max(average(1+mapStep*w*second, 1, indices), average(1+mapStep*fourth, mapStep*second, indices))
}

// average is E[M^2]/E[M] for a mean over independent indices, of which one has the given value, and all have E[M].
func average(one, all, indices float64) float64 { return all + (one-all)/indices }

// framed is E[M^2]/E[M] of w entries of n vectors in orthogonal groups of dim, the last of which may be part of one,
// and E[M] = I. M is then dim/n times whole I + P, where P projects on the last group: for a random subspace of
// dimension r and a fixed one of dimension w, with projections P and W, E[W P W P W] = (c + w d) W.
func framed(n, dim, w float64) float64 {
	whole := math.Floor(n / dim)
	r := n - whole*dim
	d := r * (dim - r) / (dim * (dim + 2) * max(dim-1, 1))
	c := r/dim - dim*d
	return dim * dim / (n * n) * (whole*whole + 2*whole*r/dim + c + w*d)
}

// sampled tells whether a step draws indices.
func (c Config) sampled() bool { return c.Integrate == 0 || c.Integrate == Sampled }
