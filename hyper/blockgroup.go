package hyper

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hypermodels/hypermodels/hyper/internal/dot"
)

// blockGroup are the inputs of one block among those that values are drawn at: their places, in order, and phi of each.
type blockGroup struct {
	block int
	at    []int
	phi   [][]float32
}

// byBlock returns the inputs of each block that has some. Inputs that follow each other with the same numbers, as
// arms in one context, share their phi.
func (b BayesianLinear) byBlock(p HostParams, x [][]float32) (out []blockGroup) {
	type input struct{ block, at int }
	inputs, phi, last := make([]input, len(x)), make([][]float32, len(x)), []float32(nil)
	for i, row := range x {
		block, numbers := b.hostSplit(row)
		inputs[i] = input{block, i}
		if i > 0 && slices.Equal(numbers, last) {
			phi[i] = phi[i-1]
		} else {
			phi[i] = make([]float32, b.whole())
			b.hostProject(p, numbers, phi[i])
		}
		last = numbers
	}
	slices.SortStableFunc(inputs, func(i, j input) int { return cmp.Compare(i.block, j.block) })
	for _, i := range inputs {
		if len(out) == 0 || out[len(out)-1].block != i.block {
			out = append(out, blockGroup{block: i.block})
		}
		g := &out[len(out)-1]
		g.at, g.phi = append(g.at, i.at), append(g.phi, phi[i.at])
	}
	return out
}

// joint returns the means of the inputs, and the lower triangular root of their covariances, [inputs, inputs], for a
// sigma_p: see cholesky. moments returns the mean at phi, and fills in size numbers: see hostMoments.
func (g blockGroup) joint(sigma float32, size int, moments func(phi, root []float32) float32) (mean, factor []float32) {
	n := len(g.at)
	mean, factor = make([]float32, n), make([]float32, n*n)
	roots := make([]float32, n*size)
	at := func(i int) []float32 { return roots[i*size : (i+1)*size] }
	for i, phi := range g.phi {
		mean[i] = moments(phi, at(i))
	}
	for j := range n {
		var pivot, whole float32
		for i := j; i < n; i++ {
			left := dot.Product(at(i), at(j)) * sigma * sigma
			if i == j {
				whole = left
			}
			for k := range j {
				left -= factor[i*n+k] * factor[j*n+k]
			}
			if i == j && left > whole*1e-6 {
				pivot = float32(1 / math.Sqrt(float64(left)))
			}
			factor[i*n+j] = left * pivot
		}
	}
	return mean, factor
}

// correlate makes the values of the inputs of independent normal numbers, in place.
func (g blockGroup) correlate(mean, factor, values []float32) {
	n := len(g.at)
	for i := n - 1; i >= 0; i-- {
		sum := mean[i]
		for k := range i + 1 {
			sum += factor[i*n+k] * values[g.at[k]]
		}
		values[g.at[i]] = sum
	}
}

// leastSideBySide is the number of products from which a part of the work is worth a goroutine: some 0.2 ms.
const leastSideBySide = 500_000

// sideBySide calls f with 0 to n-1, on several processors where there is enough work, in products of two numbers.
func sideBySide(n, work int, f func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0), 1+work/leastSideBySide)
	var next atomic.Int64
	take := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			f(i)
		}
	}
	var others sync.WaitGroup
	for range workers - 1 {
		others.Go(take)
	}
	take()
	others.Wait()
}
