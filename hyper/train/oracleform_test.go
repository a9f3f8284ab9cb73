package train

import (
	"testing"

	"gonum.org/v1/gonum/mat"
)

// armRows returns the features of a tabular base model with k arms, T x k: row t is one at the arm of datum t.
func armRows(arms []int, k int) *mat.Dense {
	ones := mat.NewDense(len(arms), 1, nil)
	ones.Apply(func(int, int, float64) float64 { return 1 }, ones)
	return armBlocks(arms, ones, k)
}

// armBlocks returns the full vectors A_t of index.PerArm, T x k m: row t has row t of a (T x m) in the block of the arm
// of datum t.
func armBlocks(arms []int, a mat.Matrix, k int) *mat.Dense {
	_, m := a.Dims()
	out := mat.NewDense(len(arms), k*m, nil)
	for i, arm := range arms {
		for j := range m {
			out.Set(i, arm*m+j, a.At(i, j))
		}
	}
	return out
}

// Two pulls of the middle arm of three, with perturbation vectors of length 2.
func TestArmBlocks(t *testing.T) {
	a := armBlocks([]int{1, 1}, mat.NewDense(2, 2, []float64{0.6, 0.8, 1, 0}), 3)
	if want := mat.NewDense(2, 6, []float64{0, 0, 0.6, 0.8, 0, 0, 0, 0, 1, 0, 0, 0}); !mat.Equal(a, want) {
		t.Errorf("got vectors %v", mat.Formatted(a))
	}
}
