package approx

import (
	"math/rand/v2"
	"runtime"
	"sync"
)

// Map is a transport map H from a reference distribution to a measure: if z is drawn from p_z, H(z) has the
// distribution mu. A Map is safe for concurrent use.
type Map interface {
	// At writes H(z) to f; z and f have length K.
	At(z, f []float64)
}

// clip limits every number to [-b, b].
func clip(f []float64, b float64) {
	for i, v := range f {
		f[i] = min(max(v, -b), b)
	}
}

// draws returns n draws from the reference distribution, one in each row of k numbers.
func draws(r Reference, rnd *rand.Rand, n, k int) [][]float64 {
	z := rows(n, k)
	for _, row := range z {
		r.draw(rnd, row)
	}
	return z
}

// apply returns the k numbers that at writes for each row of z. It uses all cores.
func apply(at func(z, f []float64), z [][]float64, k int) [][]float64 {
	f := rows(len(z), k)
	each(len(z), func(i int) { at(z[i], f[i]) })
	return f
}

// rows returns n rows of k numbers in one array.
func rows(n, k int) [][]float64 {
	flat := make([]float64, n*k)
	out := make([][]float64, n)
	for i := range out {
		out[i] = flat[i*k : (i+1)*k : (i+1)*k]
	}
	return out
}

// each calls do(0), ..., do(n-1) on all cores.
func each(n int, do func(i int)) {
	parts(n, func(_, from, to int) {
		for i := from; i < to; i++ {
			do(i)
		}
	})
}

// parts divides 0..n-1 into one part for each core, and calls do for the parts concurrently.
func parts(n int, do func(part, from, to int)) {
	workers := cores(n)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() { do(w, n*w/workers, n*(w+1)/workers) })
	}
	wait.Wait()
}

// cores returns the number of parts for n items.
func cores(n int) int { return min(runtime.GOMAXPROCS(0), max(n, 1)) }
