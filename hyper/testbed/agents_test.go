package testbed

import (
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// The hypermodel starts as in the testbed's library enn: an array of s parameters has standard deviation 1/sqrt(s) in
// mu and sqrt(2/(6 + s)) in C, and a row of the prior's B has norm 1, but 1/sqrt(10) in the weights of its second layer.
func TestHypermodelStart(t *testing.T) {
	const inputs, runs = 7, 100
	m := Hypermodel(Classes).Learner(inputs, 0).Belief.(hyper.Model)
	out := testbackend.Eval[float64](t, "", func(in []*Node) []*Node {
		s := rng.New(in[0])
		nu := m.Hyper.Init(s)
		return append(nu, m.Prior.Init(s, BroadcastToDims(Const(s.Graph(), float32(1)), runs)))
	}, seeds(runs))
	for _, c := range []struct {
		what   string
		draws  []float64 // of runs * parameters * width numbers
		width  int
		arrays []int // number of parameters in each array
		square func(array int, size float64) float64
	}{
		{"mu", out[0], 1, []int{inputs * 50, 50, 50 * 50, 50, 50 * 2, 2},
			func(_ int, size float64) float64 { return 1 / size }},
		{"C", out[1], 6, []int{inputs * 50, 50, 50 * 50, 50, 50 * 2, 2},
			func(_ int, size float64) float64 { return 2 / (6 + size) }},
		{"B", out[2], 3, []int{inputs * 10, 10, 10 * 2, 2},
			func(array int, _ float64) float64 { return []float64{1, 1, 1. / 10, 1}[array] / 3 }},
	} {
		at := 0
		for array, size := range c.arrays {
			var squares []float64
			for run := range slices.Chunk(c.draws, len(c.draws)/runs) {
				for _, x := range run[at*c.width : (at+size)*c.width] {
					squares = append(squares, x*x)
				}
			}
			within(t, c.what, squares, c.square(array, float64(size)))
			at += size
		}
		if n := len(c.draws) / runs / c.width; at != n {
			t.Errorf("%s has %d parameters, want %d", c.what, n, at)
		}
	}
	if d := math.Abs(norm(out[2][:3]) - 1); d > single {
		t.Errorf("the norm of a row of B differs from 1 by %g", d)
	}
}

func norm(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum)
}
