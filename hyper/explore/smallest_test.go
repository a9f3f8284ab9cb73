package explore

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The k-th smallest number is the number at position k after sorting, even if numbers are equal.
func TestHostSmallest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 40; n++ {
		for range 20 {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(r.IntN(1+r.IntN(2*n))) - 5
			}
			sorted := slices.Clone(x)
			slices.Sort(sorted)
			for k := range n {
				if got := hostSmallest(slices.Clone(x), k+1); got != sorted[k] {
					t.Fatalf("number %d of %v: got %v", k, sorted, got)
				}
			}
		}
	}
}
