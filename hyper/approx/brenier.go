package approx

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Brenier is the optimal transport map to finitely many functions y_j: H(z) = y_j for the largest z^T y_j + b_j, the gradient of the
// convex function max_j (z^T y_j + b_j). The offsets b are such that the cell of each function has its probability: it is semi-discrete
// optimal transport, with the dual maximised on a fixed sample of z.
type Brenier struct {
	Reference Reference
	Values    [][]float64 // y_j, all different
	Weights   []float64   // their probabilities
	Offsets   []float64   // b_j
	// MassError is the total variation between the masses of the cells, on z that were not used to find them, and the weights.
	MassError float64
	// Draws is the number of fresh z that MassError was measured on.
	Draws int
}

// What NewBrenier aims at: the total variation on fresh z, and the draws to begin and to end with.
const (
	massTolerance = 0.01
	firstDraws    = 1 << 16
	mostDraws     = 1 << 18
)

// NewBrenier finds the map. It takes more draws until the masses of the cells on fresh z are within a total variation of 0.01 of the
// weights; the error says how far they were when it has taken 2^18.
func NewBrenier(ctx context.Context, l Atoms, r Reference, seed uint64) (*Brenier, error) {
	h := &Brenier{Reference: r}
	h.merge(l)
	h.Offsets = make([]float64, len(h.Values))
	if len(h.Values) == 1 {
		return h, nil
	}
	k := len(h.Values[0])
	for n := firstDraws; n <= mostDraws; n *= 2 {
		d := newDual(h, draws(r, source(seed, fmt.Sprintf("brenier %d", n)), n, k))
		if err := d.solve(ctx); err != nil {
			return nil, err
		}
		h.MassError, h.Draws = h.massError(draws(r, source(seed, fmt.Sprintf("cells %d", n)), mostDraws, k)), mostDraws
		if h.MassError <= massTolerance {
			return h, nil
		}
	}
	return nil, fmt.Errorf("the masses of the cells of %d functions are still a total variation of %.3g from their weights; give fewer functions, or more equal weights",
		len(h.Values), h.MassError)
}

// merge takes the functions and weights of l, functions that are equal once.
func (h *Brenier) merge(l Atoms) {
	for j, p := range l.probabilities() {
		at := slices.IndexFunc(h.Values, func(f []float64) bool { return slices.Equal(f, l.Values[j]) })
		if at < 0 {
			h.Values, h.Weights = append(h.Values, l.Values[j]), append(h.Weights, p)
		} else {
			h.Weights[at] += p
		}
	}
}

// score is z^T y_j + b_j.
func (h *Brenier) score(z []float64, j int) float64 {
	s := h.Offsets[j]
	for i, v := range h.Values[j] {
		s += z[i] * v
	}
	return s
}

// Cell is the function whose cell has z, and the distance of its score from the second largest one.
func (h *Brenier) Cell(z []float64) (cell int, gap float64) {
	best, second := math.Inf(-1), math.Inf(-1)
	for j := range h.Values {
		if s := h.score(z, j); s > best {
			cell, best, second = j, s, best
		} else {
			second = max(second, s)
		}
	}
	return cell, best - second
}

// At writes H(z) to f.
func (h *Brenier) At(z, f []float64) {
	cell, _ := h.Cell(z)
	copy(f, h.Values[cell])
}

// massError is the total variation between the masses of the cells and the weights.
func (h *Brenier) massError(z [][]float64) float64 {
	cells := make([]int, len(z))
	each(len(z), func(i int) { cells[i], _ = h.Cell(z[i]) })
	mass := make([]float64, len(h.Values))
	for _, c := range cells {
		mass[c] += 1 / float64(len(z))
	}
	sum := 0.0
	for j, w := range h.Weights {
		sum += math.Abs(mass[j] - w)
	}
	return sum / 2
}
