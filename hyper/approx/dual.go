package approx

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
)

// dual is the dual problem of semi-discrete optimal transport on a sample of z: maximise sum_j w_j b_j - mean_z max_j
// (z^T y_j + b_j). The maximum is smoothed by entropy, t log sum_j exp(./t), at falling temperatures t; each solution
// is the start of the next. The gradient is the weights minus the masses of the smoothed cells.
type dual struct {
	h       *brenier
	scores  [][]float64 // z^T y_j
	used    [][]float64 // the part of scores in use
	t       float64
	at      []float64 // offsets of the last computation of value and grad
	value   float64
	grad    []float64
	partial []sums
}

// sums holds the parts of value and gradient that one core computes.
type sums struct {
	value float64
	grad  []float64
	soft  []float64
}

// temperatures has the temperatures of the smoothing, in units of the spread of the scores. Temperatures above coarse
// use an eighth of the sample.
var temperatures = []float64{0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003}

const coarse = 0.005

func newDual(h *brenier, z [][]float64) *dual {
	d := &dual{h: h, scores: rows(len(z), len(h.values)), grad: make([]float64, len(h.values))}
	each(len(z), func(i int) {
		for j, y := range h.values {
			d.scores[i][j] = floats.Dot(z[i], y)
		}
	})
	d.partial = make([]sums, cores(len(z)))
	for i := range d.partial {
		d.partial[i] = sums{grad: make([]float64, len(h.values)), soft: make([]float64, len(h.values))}
	}
	return d
}

// solve computes the offsets, and stores them in the map with mean 0.
func (d *dual) solve(ctx context.Context) error {
	spread := d.spread()
	for _, t := range temperatures {
		if err := ctx.Err(); err != nil {
			return err
		}
		d.t, d.at, d.used = t*spread, nil, d.scores
		if t > coarse {
			d.used = d.scores[:len(d.scores)/8]
		}
		p := optimize.Problem{
			Func: func(b []float64) float64 { d.compute(b); return d.value },
			Grad: func(grad, b []float64) { d.compute(b); copy(grad, d.grad) },
		}
		settings := &optimize.Settings{GradientThreshold: 1e-5, MajorIterations: 200,
			Converger: optimize.NeverTerminate{}}
		result, err := optimize.Minimize(p, d.h.offsets, settings, &optimize.LBFGS{})
		if result == nil {
			return errors.Join(errors.New("the dual of the transport problem has no solution"), err)
		}
		copy(d.h.offsets, result.X) // if the line search finds no improvement, the offsets are optimal up to rounding
	}
	floats.AddConst(-floats.Sum(d.h.offsets)/float64(len(d.h.offsets)), d.h.offsets)
	return nil
}

// spread returns the largest standard deviation of a score over the sample.
func (d *dual) spread() float64 {
	largest, n := 0.0, float64(len(d.scores))
	for j := range d.h.values {
		var sum, sum2 float64
		for _, s := range d.scores {
			sum += s[j]
			sum2 += s[j] * s[j]
		}
		largest = max(largest, sum2/n-sum*sum/n/n)
	}
	return math.Sqrt(largest)
}

// compute sets value and grad of the negative dual at offsets b.
func (d *dual) compute(b []float64) {
	if slices.Equal(d.at, b) {
		return
	}
	d.at = slices.Clone(b)
	parts(len(d.used), func(part, from, to int) {
		s := &d.partial[part]
		s.value = 0
		clear(s.grad)
		for _, row := range d.used[from:to] {
			s.add(row, b, d.t)
		}
	})
	d.value = -floats.Dot(d.h.weights, b)
	for j, w := range d.h.weights {
		d.grad[j] = -w
	}
	n := float64(len(d.used))
	for _, s := range d.partial {
		d.value += s.value / n
		floats.AddScaled(d.grad, 1/n, s.grad)
	}
}

// add adds one z: the smoothed maximum of the scores, and the smoothed cell.
func (s *sums) add(row, b []float64, t float64) {
	top := math.Inf(-1)
	for j, v := range row {
		s.soft[j] = v + b[j]
		top = max(top, s.soft[j])
	}
	total := 0.0
	for j, v := range s.soft {
		if x := (v - top) / t; x > -40 {
			s.soft[j] = math.Exp(x)
			total += s.soft[j]
		} else {
			s.soft[j] = 0
		}
	}
	s.value += top + t*math.Log(total)
	floats.AddScaled(s.grad, 1/total, s.soft)
}
