package explore

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// Sorted, the values are 0 1 2 9 for action 0, 3 3 3 3 for action 1, and 2 2 4 5 for action 2: the actions with the
// best k-th values are 1, 1, 2 and 0. Of 25 values, only the 7th of action 1 is larger: 0.28 * 25 is above 7 in double
// precision.
func TestUCB(t *testing.T) {
	four := [][]float32{{9, 3, 4}, {0, 3, 2}, {2, 3, 2}, {1, 3, 5}}
	var many [][]float32
	for i := range 25 {
		f := []float32{float32(i), float32(i)}
		if i == 6 {
			f[1] += 0.5
		} else if i > 6 {
			f[0] += 0.5
		}
		many = append(many, f)
	}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		for i, c := range []struct {
			quantile float64
			values   [][]float32
			want     int32
		}{
			{0.28, many, 1}, // the 7th
			{0.01, four, 1}, {0.25, four, 1}, {0.26, four, 1}, {0.5, four, 1}, {0.51, four, 2}, {0.75, four, 2}, {0.76, four, 0},
			{1, four, 0},
			{0, four, 0},                                       // 0.95 of 4 is the largest
			{0.24, many, 0}, {0.25, many, 1}, {0.281, many, 0}, // the 6th, a tie, and the 8th
			{1, [][]float32{{1, 2, 2}, {0, 1, 2}}, 1}, // a tie
			{0.3, [][]float32{{1, 7, 2}}, 1},          // one function
		} {
			if name != backend.Go && i > 0 { // XLA takes seconds to compile a sort
				continue
			}
			probabilities, action := decide(name, UCB{N: len(c.values), Quantile: c.quantile}, [][][]float32{c.values})
			want := make([]float32, len(c.values[0]))
			want[c.want] = 1
			if action[0] != c.want || !slices.Equal(probabilities[0], want) {
				t.Errorf("quantile %v of %d: action %d, probabilities %v, want action %d", c.quantile, len(c.values), action[0],
					probabilities[0], c.want)
			}
		}
	})
}

// By default the 95th of a hundred values decides: action 0 first has five values that are larger than action 1's, and
// then six.
func TestUCBOfAHundred(t *testing.T) {
	for large, want := range map[int]int32{5: 1, 6: 0} {
		values := make([][]float32, 100)
		for i := range values {
			values[i] = []float32{0, 1}
			if i < large {
				values[i][0] = 50
			}
		}
		_, action := decide(backend.Go, UCB{}, [][][]float32{values})
		if action[0] != want {
			t.Errorf("%d values of 50: action %v, want %d", large, action, want)
		}
	}
}

// The means are 2, 2 and 1, although each function alone prefers another action. In the second run they are 1, 3 and 2.
func TestGreedy(t *testing.T) {
	values := [][][]float32{{{4, 1, 0}, {0, 3, 2}}, {{2, 3, 4}, {0, 3, 0}}}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		probabilities, action := decide(name, Greedy{N: 2}, values)
		if got, want := fmt.Sprint(action, probabilities), "[0 1] [[1 0 0] [0 1 0]]"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// Action 0 has the better mean, and action 1 the larger value in one of four functions.
func ExampleUCB() {
	values := [][][]float32{{{3, 1}, {3, 1}, {3, 1}, {3, 5}}}
	for _, quantile := range []float64{0.75, 0.95} {
		_, action := decide(backend.Go, UCB{N: 4, Quantile: quantile}, values)
		fmt.Println(quantile, action)
	}
	// Output:
	// 0.75 [0]
	// 0.95 [1]
}

// The function that is drawn first prefers action 1, but the mean does not.
func ExampleGreedy() {
	_, action := decide(backend.Go, Greedy{N: 2}, [][][]float32{{{1, 2}, {4, 1}}})
	fmt.Println(action)
	// Output: [0]
}
