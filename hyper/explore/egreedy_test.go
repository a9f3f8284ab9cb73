package explore

import (
	"fmt"
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// anneal runs a policy in one period on values [runs, samples, actions], with an annealing rate for each run; nil means
// the policy's own rate.
func anneal(name string, p Policy, values [][][]float32, period int32, rates []float32) (probabilities [][]float32,
	action []int32) {
	more := []any{period}
	if rates != nil {
		more = append(more, rates)
	}
	return decided(name, p, values, seedsOf(len(values)), func(s rng.Stream, more []*Node) Moment {
		now := Moment{Stream: s.At(more[0]), Period: more[0]}
		if rates != nil {
			now.Numbers = hyper.Numbers{"Anneal": more[1]}
		}
		return now
	}, more...)
}

// In period t a run takes each of three actions at random with probability c/(c+t)/3. Otherwise it takes the action
// with the best mean of two functions: action 1 here, with means 2, 3, 3 (a tie), although the first function alone
// prefers 0 and the second alone 2. The rates of the runs alternate between 30 and 5. Frequencies over 4,000 runs each
// are within 5 binomial standard errors.
func TestEpsilonGreedy(t *testing.T) {
	const runs = 8000
	values, rates := make([][][]float32, runs), make([]float32, runs)
	for i := range values {
		values[i], rates[i] = [][]float32{{4, 3, 0}, {0, 3, 6}}, []float32{30, 5}[i%2]
	}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		for _, period := range []int32{0, 10, 90} {
			probabilities, action := anneal(name, EpsilonGreedy{N: 2}, values, period, rates)
			for half, c := range []float64{30, 5} {
				epsilon := c / (c + float64(period))
				want := [3]float64{epsilon / 3, 1 - epsilon + epsilon/3, epsilon / 3}
				var count [3]float64
				for i := half; i < runs; i += 2 {
					count[action[i]]++
					for a, p := range probabilities[i] {
						if math.Abs(float64(p)-want[a]) > 1e-6 { // some roundings of single precision
							t.Fatalf("period %d, c = %v: probabilities %v, want %v", period, c, probabilities[i], want)
						}
					}
				}
				for a, n := range count {
					if share := n / (runs / 2); math.Abs(share-want[a]) > 5*math.Sqrt(want[a]*(1-want[a])/(runs/2)) {
						t.Errorf("period %d, c = %v: action %d in %.4f of the runs, want %.4f",
							period, c, a, share, want[a])
					}
				}
			}
		}
	})
}

// Each period draws again whether a run explores: c = 1 explores with probability 1/101 in period 100 and 1/102 in the
// next. At most 3 of 2,000 runs should explore in both periods (the expectation is 0.2).
func TestEpsilonGreedyExploresAnewInEachPeriod(t *testing.T) {
	const runs, actions = 2000, 50
	values, rates := make([][][]float32, runs), make([]float32, runs)
	for i := range values {
		values[i], rates[i] = [][]float32{make([]float32, actions)}, 1
		values[i][0][7] = 1
	}
	explored := map[int]int{}
	for _, period := range []int32{100, 101} {
		_, action := anneal(backend.Go, EpsilonGreedy{}, values, period, rates)
		for i, a := range action {
			if a != 7 {
				explored[i]++
			}
		}
	}
	twice := 0
	for _, n := range explored {
		twice += n / 2
	}
	if len(explored) < 10 || twice > 3 { // the expected total is 39; less than 10 has probability 1e-8
		t.Errorf("%d runs explored and %d of them twice, want at least 10 and at most 3", len(explored), twice)
	}
}

func TestEpsilonGreedySamples(t *testing.T) {
	if a, b := (EpsilonGreedy{}).Samples(), (EpsilonGreedy{N: 7}).Samples(); a != 1 || b != 7 {
		t.Errorf("%d and %d samples, want 1 and 7", a, b)
	}
}

// With c = 30 the first period certainly explores. After 90 periods a quarter of the decisions do, and the better of
// two actions has probability 3/4 + 1/8.
func ExampleEpsilonGreedy() {
	for _, period := range []int32{0, 90} {
		probabilities, _ := anneal(backend.Go, EpsilonGreedy{}, [][][]float32{{{1, 2}}}, period, []float32{30})
		fmt.Printf("%.3f\n", probabilities)
	}
	// Output:
	// [[0.500 0.500]]
	// [[0.125 0.875]]
}
