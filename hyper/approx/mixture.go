package approx

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Mixture is a mixture of Gaussians over R^K whose draws are clipped to [-B, B]. With one component it is a Gaussian.
type Mixture struct{ Components []Component }

// Component is a Gaussian N(Mean, Covariance) with a weight. Weights need not sum to 1.
type Component struct {
	Weight     float64
	Mean       []float64
	Covariance *mat.SymDense
}

var _ Law = Mixture{}

// Check reports weights that are not positive, means and covariances for another number of points than k, and
// covariances that are not positive definite.
func (l Mixture) Check(k int, _ float64) []error {
	if len(l.Components) == 0 {
		return []error{errors.New("a mixture needs at least one component")}
	}
	var errs []error
	for i, c := range l.Components {
		if !positive(c.Weight) {
			errs = append(errs, fmt.Errorf("component %d: the weight must be positive and finite, got %v", i, c.Weight))
		}
		if len(c.Mean) != k || c.Covariance == nil || c.Covariance.SymmetricDim() != k {
			errs = append(errs, fmt.Errorf("component %d: mean and covariance must be for K = %d points", i, k))
			continue
		}
		if _, err := c.factor(); err != nil {
			errs = append(errs, fmt.Errorf("component %d: %w", i, err))
		}
		if norm := floats.Norm(c.Mean, math.Inf(1)); math.IsNaN(norm) || math.IsInf(norm, 0) {
			errs = append(errs, fmt.Errorf("component %d: the mean must be finite, got %v", i, c.Mean))
		}
	}
	return errs
}

// factor returns the lower triangular Cholesky factor L of the covariance L L^T.
func (c Component) factor() (*mat.TriDense, error) {
	var chol mat.Cholesky
	if !chol.Factorize(c.Covariance) {
		return nil, errors.New("the covariance is not positive definite")
	}
	var l mat.TriDense
	chol.LTo(&l)
	return &l, nil
}

// Sample draws a component, and a function from the component.
func (l Mixture) Sample(rnd *rand.Rand, b float64, f []float64) {
	total := 0.0
	for _, c := range l.Components {
		total += c.Weight
	}
	u, i := rnd.Float64()*total, 0
	for ; i < len(l.Components)-1 && u > l.Components[i].Weight; i++ {
		u -= l.Components[i].Weight
	}
	c := l.Components[i]
	factor, err := c.factor()
	if err != nil {
		panic(err) // Check has reported the fault
	}
	e := make([]float64, len(f))
	Gaussian.draw(rnd, e)
	for r := range f {
		f[r] = c.Mean[r]
		for j := range r + 1 {
			f[r] += factor.At(r, j) * e[j]
		}
	}
	clip(f, b)
}

// Transport returns the mixture's Knothe-Rosenblatt map, clipped to [-b, b].
func (l Mixture) Transport(_ context.Context, r Reference, k int, b float64, _ uint64) (Map, error) {
	h := &knothe{reference: r, bound: b}
	for _, c := range l.Components {
		factor, err := c.factor()
		if err != nil {
			return nil, err
		}
		p := piece{weight: math.Log(c.Weight), mean: c.Mean, l: rows(k, k)}
		for i := range k {
			for j := range i + 1 {
				p.l[i][j] = factor.At(i, j)
			}
		}
		h.pieces = append(h.pieces, p)
	}
	if len(h.pieces) == 1 {
		return coordinatewise{h}, nil
	}
	return h, nil
}
