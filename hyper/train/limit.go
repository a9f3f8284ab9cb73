package train

import (
	"math"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
)

// StepLimit is the step size alpha above which SGD can diverge in mean square, for data whose features have squared
// norms of at most norm2 (1 for arms), and the rates sigma_w^2, sigma_p^2 and Rates.MapStep. It is +Inf where it is not
// known: for base models that are not linear in theta, hypermodels other than linear ones and ensembles, and optimizers
// other than sgd; and for Exact, which makes no steps.
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
func (c Config) StepLimit(m hyper.Model, noiseVar, priorVar, mapStep, norm2 float64) float64 {
	if c.Integrate == Exact || (c.Optimizer != "" && c.Optimizer != "sgd") || !m.LinearInTheta() {
		return math.Inf(1)
	}
	return 2 / ((norm2/noiseVar + 1/priorVar) * c.steepness(m, mapStep))
}

// steepness is the largest eigenvalue of E[M^2] against E[M]: see StepLimit. It is 0 where it is not known.
func (c Config) steepness(m hyper.Model, mapStep float64) float64 {
	indices := float64(c.Indices)
	if c.Integrate == Analytic || c.Integrate == FullData {
		indices = math.Inf(1)
	}
	// sampled is E[M^2]/E[M] for a mean over independent indices, of which one has the given value, and all have E[M].
	sampled := func(one, all, indices float64) float64 { return all + (one-all)/indices }
	_, second := m.Index().Moments()
	n := float64(m.Index().Dim())
	l, linear := m.Hyper.(hyper.Linear)
	_, ensemble := m.Hyper.(hyper.Ensemble)
	switch {
	case ensemble:
		return sampled(1, 1/n, indices)
	case !linear:
		return 0
	case oneHot(m):
		return sampled(1+mapStep, 1+mapStep/n, indices)
	}
	// A part of z with w entries has E |z|^2 = w second, and E |z|^2 z_i^2 = fourth second.
	w, fourth := float64(l.Width), float64(l.Width)+2
	switch m.Index().(type) {
	case index.Gaussian, index.PerArm:
	case index.Sphere:
		fourth /= n + 2
	default:
		return 0
	}
	switch {
	case c.IndexSet == Antithetic && c.sampled(): // mu and C do not meet
		return max(1, mapStep*sampled(fourth, second, indices/2))
	case c.IndexSet == Frame && c.sampled():
		return max(1, mapStep*second*framed(indices/2, float64(m.Index().(index.Framed).FrameSize()/2), w))
	}
	return max(sampled(1+mapStep*w*second, 1, indices), sampled(1+mapStep*fourth, mapStep*second, indices))
}

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
func (c Config) sampled() bool { return c.Integrate == "" || c.Integrate == Sampled }
