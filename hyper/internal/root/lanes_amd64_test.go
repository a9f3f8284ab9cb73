package root

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The loops in assembly and the loops in Go give the same bits, for 1 to 69 rows and for different numbers of columns
// that do not change.
func TestLanesAreGo(t *testing.T) {
	if !lanes {
		t.Skip("the processor has no lanes")
	}
	t.Cleanup(func() { lanes = true })
	r := rand.New(rand.NewPCG(7, 8))
	for n := 1; n < 70; n++ {
		own, phi, x := NewTriangle(n, identity(n)), make([]float64, n), make([]float32, n)
		for k := range 6 {
			for i := range phi {
				phi[i], x[i] = r.NormFloat64(), float32(r.NormFloat64())
			}
			clear(phi[n-min(n, 3*k):]) // these columns do not change; for small n no column changes
			var roots [2]*Triangle
			var numbers [2][]float64
			for i, of := range []bool{true, false} {
				lanes = of
				next, gain, ok := own.Update(phi, 0.3)
				out := make([]float32, n)
				next.Project(x, out)
				roots[i], numbers[i] = next, append(gain, next.Square(phi)...)
				for _, v := range append(out, next.narrow...) {
					numbers[i] = append(numbers[i], float64(v))
				}
				if !ok {
					t.Fatal("the update is not finite")
				}
			}
			if !roots[0].Equal(roots[1]) || !slices.Equal(numbers[0], numbers[1]) {
				t.Fatalf("n = %d: assembly and Go give different bits", n)
			}
			own = roots[0]
		}
	}
}
