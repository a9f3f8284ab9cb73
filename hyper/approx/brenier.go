package approx

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// brenier is the optimal transport map to finitely many functions y_j. H(z) = y_j for the largest z^T y_j + b_j: the
// gradient of the convex function max_j (z^T y_j + b_j). The offsets b_j give the cell of each function its
// probability. They solve semi-discrete optimal transport, by maximising the dual on a fixed sample of z.
type brenier struct {
	values  [][]float64 // y_j, all different
	weights []float64   // their probabilities
	offsets []float64   // b_j
	// missed is the total variation distance between the weights and the masses of the cells, on other z than the
	// sample.
	missed float64
}

// Settings of newBrenier: the accepted total variation on fresh z, and the smallest and largest number of draws.
const (
	massTolerance = 0.01
	firstDraws    = 1 << 16
	mostDraws     = 1 << 18
)

// newBrenier computes the map. It doubles the number of draws until the masses of the cells on fresh z are within a
// total variation distance of 0.01 from the weights. If 2^18 draws do not suffice, the error has the distance.
func newBrenier(ctx context.Context, l Atoms, r Reference, seed uint64) (*brenier, error) {
	h := &brenier{}
	h.merge(l)
	h.offsets = make([]float64, len(h.values))
	if len(h.values) == 1 {
		return h, nil
	}
	k := len(h.values[0])
	for n := firstDraws; n <= mostDraws; n *= 2 {
		d := newDual(h, draws(r, source(seed, fmt.Sprintf("brenier %d", n)), n, k))
		if err := d.solve(ctx); err != nil {
			return nil, err
		}
		h.missed = h.massError(draws(r, source(seed, fmt.Sprintf("cells %d", n)), mostDraws, k))
		if h.missed <= massTolerance {
			return h, nil
		}
	}
	return nil, fmt.Errorf("the masses of the cells of %d functions are still a total variation of %.3g from their "+
		"weights; give fewer functions, or more equal weights", len(h.values), h.missed)
}

// merge copies the functions and weights of l. It merges equal functions.
func (h *brenier) merge(l Atoms) {
	for j, p := range l.probabilities() {
		at := slices.IndexFunc(h.values, func(f []float64) bool { return slices.Equal(f, l.Values[j]) })
		if at < 0 {
			h.values, h.weights = append(h.values, l.Values[j]), append(h.weights, p)
		} else {
			h.weights[at] += p
		}
	}
}

// cell returns the function whose cell contains z, and the distance of its score from the second largest score.
func (h *brenier) cell(z []float64) (cell int, gap float64) {
	best, second := math.Inf(-1), math.Inf(-1)
	for j := range h.values {
		if s := floats.Dot(z, h.values[j]) + h.offsets[j]; s > best {
			cell, best, second = j, s, best
		} else {
			second = max(second, s)
		}
	}
	return cell, best - second
}

// At writes H(z) to f.
func (h *brenier) At(z, f []float64) {
	cell, _ := h.cell(z)
	copy(f, h.values[cell])
}

// massError returns the total variation distance between the masses of the cells and the weights.
func (h *brenier) massError(z [][]float64) float64 {
	cells := make([]int, len(z))
	each(len(z), func(i int) { cells[i], _ = h.cell(z[i]) })
	mass := make([]float64, len(h.values))
	for _, c := range cells {
		mass[c] += 1 / float64(len(z))
	}
	sum := 0.0
	for j, w := range h.weights {
		sum += math.Abs(mass[j] - w)
	}
	return sum / 2
}
