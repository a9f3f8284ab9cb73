package approx

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// Measure is a probability measure mu over functions on X = {Points} with values in [-Bound, Bound].
type Measure struct {
	Name   string    // for messages; one of KnownNames for known measures
	Points []float64 // X: K numbers, increasing
	Bound  float64   // B, in the units of the functions' values
	Law    Law
}

// Law is the probability distribution of a Measure. [Mixture] and [Atoms] implement it.
type Law interface {
	// Check returns every fault of the distribution over k points within [-b, b].
	Check(k int, b float64) []error
	// Sample draws a function, independently of any transport map.
	Sample(rnd *rand.Rand, b float64, f []float64)
	// Transport returns a transport map from the reference distribution. seed determines all random numbers of the search.
	Transport(ctx context.Context, r Reference, k int, b float64, seed uint64) (Map, error)
}

// K returns the number of points.
func (m Measure) K() int { return len(m.Points) }

// Grid returns k equidistant points in [0, 1]; for k = 1 it returns 0.
func Grid(k int) []float64 {
	points := make([]float64, max(k, 0))
	for i := range points {
		points[i] = float64(i) / math.Max(float64(k-1), 1)
	}
	return points
}

// Validate reports every fault of the measure.
func (m Measure) Validate() error {
	errs := append(checkPoints(m.Points), checkBound(m.Bound))
	if m.Law == nil {
		errs = append(errs, errors.New("a measure needs a distribution: set Law"))
	} else if err := errors.Join(errs...); err == nil {
		errs = m.Law.Check(m.K(), m.Bound)
	}
	return errors.Join(errs...)
}

// Transport returns a transport map H from the reference distribution to mu.
func (m Measure) Transport(ctx context.Context, r Reference, seed uint64) (Map, error) {
	if err := errors.Join(m.Validate(), r.Validate()); err != nil {
		return nil, err
	}
	h, err := m.Law.Transport(ctx, r, m.K(), m.Bound, seed)
	if err != nil {
		return nil, fmt.Errorf("transport map to %s: %w", m.Name, err)
	}
	return h, nil
}

// Sample draws n functions from mu, one in each row of K values, independently of any transport map.
func (m Measure) Sample(rnd *rand.Rand, n int) [][]float64 {
	out := rows(n, m.K())
	for _, f := range out {
		m.Law.Sample(rnd, m.Bound, f)
	}
	return out
}

// separation is the least distance of two points, relative to the largest absolute value. Single precision cannot
// distinguish closer points.
const separation = 1e-5

func checkPoints(points []float64) []error {
	if len(points) == 0 {
		return []error{errors.New("the number of points must be at least 1, got 0")}
	}
	largest := 0.0
	for i, x := range points {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return []error{fmt.Errorf("point %d is %v; points must be finite", i, x)}
		}
		largest = max(largest, math.Abs(x))
	}
	var errs []error
	for i := range len(points) - 1 {
		switch d := points[i+1] - points[i]; {
		case d == 0:
			errs = append(errs, fmt.Errorf("point %v is given twice", points[i]))
		case d < 0:
			errs = append(errs, fmt.Errorf("points must increase, got %v before %v", points[i], points[i+1]))
		case d < separation*largest:
			errs = append(errs, fmt.Errorf("points %v and %v are too close for single precision", points[i],
				points[i+1]))
		}
	}
	return errs
}

// positive reports whether x is positive and finite.
func positive(x float64) bool { return x > 0 && !math.IsInf(x, 0) }

func checkBound(b float64) error {
	if positive(b) {
		return nil
	}
	return fmt.Errorf("the bound B must be positive and finite, got %v", b)
}

// checkInside reports the first value outside [-b, b].
func checkInside(what string, f []float64, b float64) error {
	for i, v := range f {
		if !(math.Abs(v) <= b) {
			return fmt.Errorf("%s has value %v at point %d, outside [-%v, %v]", what, v, i, b, b)
		}
	}
	return nil
}
