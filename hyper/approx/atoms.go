package approx

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
)

// Atoms is a distribution over finitely many functions. Function j has the K values Values[j], and a probability
// proportional to Weights[j].
type Atoms struct {
	Values  [][]float64
	Weights []float64 // nil means equal weights
	// Optimal selects Brenier's map. Otherwise the first component of z selects the function: its level is the
	// quantile.
	Optimal bool
}

var _ Law = Atoms{}

// FromSampler returns the empirical distribution of m functions that are drawn by a sampler. The sampler writes a
// function's k values to f, and must not keep f. The transport map is Brenier's.
func FromSampler(k, m int, seed uint64, draw func(rnd *rand.Rand, f []float64)) Atoms {
	rnd, values := source(seed, "sampler"), rows(m, k)
	for _, f := range values {
		draw(rnd, f)
	}
	return Atoms{Values: values, Optimal: true}
}

// Check reports values outside [-b, b], functions without k values, and weights that are not positive.
func (l Atoms) Check(k int, b float64) []error {
	if len(l.Values) == 0 {
		return []error{errors.New("a discrete distribution needs at least one function")}
	}
	var errs []error
	for j, f := range l.Values {
		if len(f) != k {
			errs = append(errs, fmt.Errorf("function %d has %d values, but there are K = %d points", j, len(f), k))
		} else if err := checkInside(fmt.Sprintf("function %d", j), f, b); err != nil {
			errs = append(errs, err)
		}
	}
	if l.Weights != nil && len(l.Weights) != len(l.Values) {
		errs = append(errs, fmt.Errorf("there are %d weights for %d functions", len(l.Weights), len(l.Values)))
	}
	for j, w := range l.Weights {
		if !positive(w) {
			errs = append(errs, fmt.Errorf("weight %d must be positive and finite, got %v", j, w))
		}
	}
	return errs
}

// Sample draws one of the functions.
func (l Atoms) Sample(rnd *rand.Rand, _ float64, f []float64) {
	copy(f, l.Values[interval(l.ends(), rnd.Float64())])
}

// Transport returns Brenier's map if l.Optimal, else the map by intervals of z_1.
func (l Atoms) Transport(ctx context.Context, r Reference, _ int, _ float64, seed uint64) (Map, error) {
	if l.Optimal {
		return newBrenier(ctx, l, r, seed)
	}
	return intervals{atoms: l, reference: r, ends: l.ends()}, nil
}

// probabilities returns the weights, scaled to sum 1.
func (l Atoms) probabilities() []float64 {
	out, sum := make([]float64, len(l.Values)), 0.0
	for j := range out {
		out[j] = 1
		if l.Weights != nil {
			out[j] = l.Weights[j]
		}
		sum += out[j]
	}
	for j := range out {
		out[j] /= sum
	}
	return out
}

// ends returns the cumulative sums of the probabilities without the last, which is 1.
func (l Atoms) ends() []float64 {
	ends, sum := l.probabilities(), 0.0
	for j, p := range ends {
		sum += p
		ends[j] = sum
	}
	return ends[:len(ends)-1]
}

// interval returns the number of the interval between ends that contains u.
func interval(ends []float64, u float64) int {
	j := 0
	for j < len(ends) && u >= ends[j] {
		j++
	}
	return j
}
