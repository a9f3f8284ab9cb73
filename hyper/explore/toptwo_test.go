package explore

import (
	"fmt"
	"math"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// Of four functions, 0 is the best action for two, and 1 and 2 for one each, so that they lead with 1/2, 1/4 and 1/4.
// Action 0 challenges with 1/2 of 2 (1/4)/(3/4), which is 1/3, and 1 with 1/4 of (1/2)/(1/2) + (1/4)/(3/4), which is
// also 1/3. With three functions of two actions, 1 leads with 2/3 and challenges with 1/3. If all functions agree there
// is no challenger. Among equal actions the lowest counts.
func TestTopTwo(t *testing.T) {
	four := [][]float32{{5, 1, 5, 0}, {0, 0, 1, 0}, {2, 0, 0, 1}, {0, 9, 0, 8}} // best: 0 (tie with 2), 2, 0, 1
	three := [][]float32{{0, 1}, {0, 2}, {3, 0}}                                // best: 1, 1, 0
	testbackend.ForEach(t, func(t *testing.T, name string) {
		for i, c := range []struct {
			beta       float64
			values     [][]float32
			want       []float64
			challenger bool // nearly every run takes it
			action     int32
		}{
			{0, four, []float64{5. / 12, 7. / 24, 7. / 24, 0}, false, -1},
			{1, four, []float64{0.5, 0.25, 0.25, 0}, false, 0},
			{0.75, four, []float64{0.375 + 1./12, 0.1875 + 1./12, 0.1875 + 1./12, 0}, false, -1},
			{1e-9, four, []float64{1. / 3, 1. / 3, 1. / 3, 0}, true, 2}, // the action of the second function
			{1e-9, three, []float64{2. / 3, 1. / 3}, true, 0},
			{0, three, []float64{0.5, 0.5}, false, -1},
			{1e-9, [][]float32{{0, 1, 1}, {0, 5, 2}}, []float64{0, 1, 0}, true, 1},
		} {
			if name != backend.Go && i > 0 { // XLA takes seconds to compile
				continue
			}
			probabilities, action := decideAt(name, TopTwo{N: len(c.values), Beta: c.beta}, [][][]float32{c.values},
				[]uint64{7})
			for x, want := range c.want {
				if got := float64(probabilities[0][x]); math.Abs(got-want) > 1e-6 { // some roundings of single precision
					t.Errorf("beta %v: probabilities %v, want %.4f", c.beta, probabilities[0], c.want)
				}
			}
			if c.action >= 0 && action[0] != c.action {
				t.Errorf("beta %v: action %d, want %d", c.beta, action[0], c.action)
			}
		}
	})
}

// The leader is taken in a share Beta of the runs, and otherwise the challenger: within 5 binomial standard errors over
// 4,000 runs.
func TestTopTwoBeta(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs")
	}
	const runs = 4000
	values, seeds := make([][][]float32, runs), make([]uint64, runs)
	for i := range values {
		values[i], seeds[i] = [][]float32{{0, 1, 0}, {0, 1, 0}, {1, 0, 0}, {0, 0, 1}}, uint64(i) // leader 1, challenger 0
	}
	for given, want := range map[float64]float64{0: 0.5, 0.2: 0.2, 0.9: 0.9, 1: 1} {
		_, action := decideAt(backend.Go, TopTwo{N: 4, Beta: given}, values, seeds)
		var count [3]float64
		for _, x := range action {
			count[x]++
		}
		if math.Abs(count[1]/runs-want) > 5*math.Sqrt(want*(1-want)/runs) || count[2] > 0 {
			t.Errorf("Beta %v: actions were taken %v times", given, count)
		}
	}
}

// Three of four functions prefer action 1. It leads with 3/4, and challenges whenever 0 leads.
func ExampleTopTwo() {
	values := [][][]float32{{{0, 1}, {2, 1}, {0, 2}, {0, 3}}}
	probabilities, _ := decideAt(backend.Go, TopTwo{N: 4}, values, []uint64{1})
	fmt.Printf("%.3f\n", probabilities)
	// Output: [[0.500 0.500]]
}
