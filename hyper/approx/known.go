package approx

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

// Setting holds the arguments of a known measure.
type Setting struct {
	Points  []float64 // X
	Bound   float64   // B
	Seed    uint64    // for measures that are trained
	Optimal bool      // for discrete: Brenier's map instead of intervals
}

// measures has the known measures by name. Their values are proportional to B.
var measures = map[string]func(ctx context.Context, s Setting) (Measure, error){
	"gaussian":  gaussianMeasure,
	"mixture":   mixtureMeasure,
	"process":   processMeasure,
	"discrete":  discreteMeasure,
	"posterior": posteriorMeasure,
}

// KnownNames lists the names of the known measures, sorted.
func KnownNames() []string { return slices.Sorted(maps.Keys(measures)) }

// NewMeasure returns a known measure. The error joins every fault.
func NewMeasure(ctx context.Context, name string, s Setting) (Measure, error) {
	build, ok := measures[name]
	errs := append(checkPoints(s.Points), checkBound(s.Bound))
	if !ok {
		errs = append(errs, fmt.Errorf("unknown measure %q%s; the measures are %s", name,
			nearest.Hint(name, KnownNames()), strings.Join(KnownNames(), ", ")))
	}
	if err := errors.Join(errs...); err != nil {
		return Measure{}, err
	}
	m, err := build(ctx, s)
	if err != nil {
		return Measure{}, err
	}
	m.Name, m.Points, m.Bound = name, s.Points, s.Bound
	return m, m.Validate()
}

// gaussianMeasure returns a correlated Gaussian, clipped: mean 0.2 B sin(2 pi x), standard deviation 0.3 B, correlation
// 0.6^|i-j|.
func gaussianMeasure(_ context.Context, s Setting) (Measure, error) {
	mean := make([]float64, len(s.Points))
	for i, x := range s.unit() {
		mean[i] = 0.2 * s.Bound * math.Sin(2*math.Pi*x)
	}
	return Measure{Law: Mixture{[]Component{{1, mean, neighbours(len(mean), 0.3*s.Bound, 0.6)}}}}, nil
}

// mixtureMeasure returns a measure with two modes, of high and of low functions: means 0.5 B with probability 0.6 and
// -0.5 B with 0.4, standard deviation 0.15 B, correlation 0.5^|i-j|.
func mixtureMeasure(_ context.Context, s Setting) (Measure, error) {
	up, down := make([]float64, len(s.Points)), make([]float64, len(s.Points))
	for i := range up {
		up[i], down[i] = 0.5*s.Bound, -0.5*s.Bound
	}
	covariance := neighbours(len(up), 0.15*s.Bound, 0.5)
	return Measure{Law: Mixture{[]Component{{0.4, down, covariance}, {0.6, up, covariance}}}}, nil
}

// processMeasure returns a Gaussian process on the points, clipped: mean 0, standard deviation B/3, and correlation
// exp(-d^2/(2 l^2)) at distance d, where l is a quarter of the points' range. A share of 1e-4 of the variance is noise.
func processMeasure(_ context.Context, s Setting) (Measure, error) {
	x, variance := s.unit(), s.Bound*s.Bound/9
	covariance := mat.NewSymDense(len(x), nil)
	for i := range x {
		for j := range i + 1 {
			d := (x[i] - x[j]) / 0.25
			covariance.SetSym(i, j, variance*math.Exp(-d*d/2))
		}
		covariance.SetSym(i, i, variance*(1+1e-4))
	}
	return Measure{Law: Mixture{[]Component{{1, make([]float64, len(x)), covariance}}}}, nil
}

// discreteMeasure returns six waves 0.9 B cos(pi j x + j), j = 1, ..., 6, with probabilities proportional to j.
func discreteMeasure(_ context.Context, s Setting) (Measure, error) {
	l := Atoms{Optimal: s.Optimal}
	for j := 1.0; j <= 6; j++ {
		f := make([]float64, len(s.Points))
		for i, x := range s.unit() {
			f[i] = 0.9 * s.Bound * math.Cos(math.Pi*j*x+j)
		}
		l.Values, l.Weights = append(l.Values, f), append(l.Weights, j)
	}
	return Measure{Law: l}, nil
}

// unit returns the points, scaled to [0, 1].
func (s Setting) unit() []float64 {
	out, low := slices.Clone(s.Points), s.Points[0]
	width := s.Points[len(out)-1] - low
	for i := range out {
		out[i] -= low
		if width > 0 {
			out[i] /= width
		}
	}
	return out
}

// neighbours returns the covariance sd^2 rho^|i-j|.
func neighbours(k int, sd, rho float64) *mat.SymDense {
	covariance := mat.NewSymDense(k, nil)
	for i := range k {
		for j := range i + 1 {
			covariance.SetSym(i, j, sd*sd*math.Pow(rho, float64(i-j)))
		}
	}
	return covariance
}
