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

// blockGroup holds the inputs of one block among the inputs at which values are drawn: their indices in ascending
// order, and phi of each.
type blockGroup struct {
	block int
	at    []int
	phi   [][]float32
}

// byBlock returns a blockGroup for each block that has inputs. Successive inputs with the same numbers, such as arms in
// one context, share their phi.
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

// joint returns the means of the values at the group's inputs, and the lower triangular root of their covariances,
// [inputs, inputs], for the given sigma_p; see cholesky. moments returns the mean at phi and writes size numbers to
// root; see hostMoments.
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

// correlate converts independent standard normal numbers, in place, to values at the group's inputs. values has a
// number for each input of all groups.
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

// leastSideBySide is the smallest number of products that is worth a goroutine: about 0.2 ms of work.
const leastSideBySide = 500_000

// sideBySide calls f with each of 0 to n-1. It uses several processors if there is enough work. work is the number of
// products of two numbers.
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
