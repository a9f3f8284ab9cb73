package train

import (
	"math"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
)

// StepLimit returns the step size alpha above which SGD can diverge in mean square. norm2 is the largest squared norm
// of the features of a datum (1 for arms); noiseVar, priorVar and mapStep are the rates sigma_w^2, sigma_p^2 and
// Rates.MapStep. StepLimit returns +Inf if the limit is not known: for base models that are not linear in theta, for
// hypermodels other than linear ones and ensembles, for losses that are not quadratic or have weights, for regularizers
// other than Anchor, for Unperturbed data, for optimizers without LinearInGradients (all but SGD and SGLD), and for
// IndexSet PerDatum. It also returns +Inf for Exact, which makes no steps.
//
// The loss over |D| is quadratic in theta. Its curvature is largest for a single datum, Lambda = norm2/sigma_w^2 +
// 1/sigma_p^2, and SGD on a single theta is stable up to 2/Lambda. In nu, the curvature for a set of indices is Lambda
// M, where M is the mean of psi psi^T over the indices, with psi = (1, z), or psi = z for an ensemble. MapStep
// multiplies z by the square root of MapStep. A step turns an error e into (I - alpha Lambda M) e, and E |e|^2 falls if
//
//	alpha Lambda E[M^2] < 2 E[M]
//
// This is alpha < 2 / (Lambda h), where h is the largest eigenvalue of E[M^2] relative to E[M]. StepLimit computes h
// from the moments of the indices. With the step 1 / (Lambda h) an error falls the fastest.
func (c Config) StepLimit(b hyper.Belief, noiseVar, priorVar, mapStep, norm2 float64) float64 {
	p := newProblem(c, b)
	if c.Integrate == Exact || p.ownIndices() || !c.LinearSteps() || !p.linearInTheta() || p.plain() != nil {
		return math.Inf(1)
	}
	return 2 / ((norm2/noiseVar + 1/priorVar) * p.steepness(mapStep))
}

// steepness returns the largest eigenvalue of E[M^2] relative to E[M]: see StepLimit. It returns 0 if the eigenvalue is
// not known.
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
	case p.IndexSet == Antithetic && p.sampled(): // M has no terms between mu and C
		return max(1, mapStep*average(fourth, second, indices/2))
	case p.IndexSet == Frame && p.sampled():
		return max(1, mapStep*second*framed(indices/2, float64(index.FrameSize(p.z)/2), w))
	case p.IndexSet == Axes && p.sampled(): // E z z^T is exact
		return max(1, mapStep*second)
	}
	return max(average(1+mapStep*w*second, 1, indices), average(1+mapStep*fourth, mapStep*second, indices))
}

// average returns E[M^2]/E[M] for M a mean over independent indices. one is the value for a single index, and all is
// E[M].
func average(one, all, indices float64) float64 { return all + (one-all)/indices }

// framed returns E[M^2]/E[M] for w entries of n vectors in orthogonal groups of dim vectors, where the last group may
// be incomplete, and E[M] = I. M is then dim/n times whole I + P, where P projects on the last group. For a random
// subspace of dimension r and a fixed subspace of dimension w, with projections P and W, E[W P W P W] = (c + w d) W.
func framed(n, dim, w float64) float64 {
	whole := math.Floor(n / dim)
	r := n - whole*dim
	d := r * (dim - r) / (dim * (dim + 2) * max(dim-1, 1))
	c := r/dim - dim*d
	return dim * dim / (n * n) * (whole*whole + 2*whole*r/dim + c + w*d)
}

// sampled reports whether an SGD step draws indices.
func (c Config) sampled() bool { return c.Integrate == 0 || c.Integrate == Sampled }
