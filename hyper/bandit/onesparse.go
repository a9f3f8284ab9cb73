package bandit

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// OneSparse is the one-sparse linear bandit of section 5: the mean reward of an action x in R^N is x^T theta*, where theta* is one of the
// N one-hot vectors, all equally likely. The first N actions are the one-hot vectors; the others are 1_S/2 for the N - 2 sublists S
// of (1, ..., N) that bisection makes, other than the whole list and its single elements. N need not be a power of two: an odd list has
// the larger half second.
type OneSparse struct{ N int }

// Validate reports what is wrong.
func (b OneSparse) Validate() error {
	if b.N < 2 {
		return fmt.Errorf("a one-sparse bandit needs at least 2 components, got %d", b.N)
	}
	return nil
}

// Sublists returns the ends [from, to) of the sublists, in the order of the bisections that make them: halves, quarters, and so on.
func (b OneSparse) Sublists() [][2]int {
	var out [][2]int
	for level := [][2]int{{0, b.N}}; len(level) > 0; {
		var next [][2]int
		for _, s := range level {
			middle := (s[0] + s[1]) / 2
			for _, half := range [][2]int{{s[0], middle}, {middle, s[1]}} {
				if half[1]-half[0] > 1 {
					next = append(next, half)
				}
			}
		}
		out = append(out, next...)
		level = next
	}
	return out
}

// Actions returns the actions as rows, [2N-2][N].
func (b OneSparse) Actions() [][]float32 {
	var out [][]float32
	for i := range b.N {
		x := make([]float32, b.N)
		x[i] = 1
		out = append(out, x)
	}
	for _, s := range b.Sublists() {
		x := make([]float32, b.N)
		for i := s[0]; i < s[1]; i++ {
			x[i] = 0.5
		}
		out = append(out, x)
	}
	return out
}

// Init returns the actions, [runs, 2N-2, N], and their mean rewards, [runs, 2N-2].
func (b OneSparse) Init(s rng.Stream) (actions, mean *Node) {
	one := Const(s.Graph(), b.Actions())
	actions = BroadcastToDims(InsertAxes(one, 0), append([]int{s.Runs()}, one.Shape().Dimensions...)...)
	theta := OneHot(Squeeze(s.Named("theta").Intn(Const(s.Graph(), int32(b.N)), 1), 1), b.N, dtypes.Float32)
	return actions, Einsum("rn,an->ra", theta, one)
}

// Step returns the rewards of the actions x (int32 [runs]) and their expected regrets, each [runs], for noise of standard
// deviation sigma_w [runs]. The noise of a period does not depend on the action.
func (b OneSparse) Step(s rng.Stream, mean, x, noise *Node) (reward, regret *Node) {
	return step(s, mean, x, noise)
}
