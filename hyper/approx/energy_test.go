package approx

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// energyTest compares the distributions of two samples of functions. It returns the energy distance 2 E|a - b| - E|a -
// a'| - E|b - b'|, which is 0 only for equal distributions, and the p-value of the hypothesis that they are equal. The
// p-value is the share of random permutations of the pooled samples whose distance is at least as large.
func energyTest(rnd *rand.Rand, a, b [][]float64, permutations int) (distance, p float64) {
	pool := append(append([][]float64{}, a...), b...)
	d := rows(len(pool), len(pool))
	each(len(pool), func(i int) {
		for j := range pool {
			d[i][j] = floats.Distance(pool[i], pool[j], 2)
		}
	})
	side := make([]float64, len(pool)) // the distance is minus the quadratic form of d in side
	for i := range side {
		side[i] = 1 / float64(len(a))
		if i >= len(a) {
			side[i] = -1 / float64(len(b))
		}
	}
	distance = energy(d, side)
	larger := 1
	for range permutations {
		rnd.Shuffle(len(side), func(i, j int) { side[i], side[j] = side[j], side[i] })
		if energy(d, side) >= distance*(1-1e-12) {
			larger++
		}
	}
	return distance, float64(larger) / float64(permutations+1)
}

// energy returns -s^T d s.
func energy(d [][]float64, s []float64) float64 {
	partial := make([]float64, cores(len(d)))
	parts(len(d), func(part, from, to int) {
		for i := from; i < to; i++ {
			partial[part] -= s[i] * floats.Dot(d[i], s)
		}
	})
	return math.Max(floats.Sum(partial), 0)
}
