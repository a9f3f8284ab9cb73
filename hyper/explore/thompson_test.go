package explore

import (
	"fmt"
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// decided runs a policy on values [runs, samples, actions]. A function makes the moment of the decision from the streams
// of runs with the given seeds and from more arguments.
func decided(name string, p Policy, values [][][]float32, seeds []uint64, moment func(s rng.Stream, more []*Node) Moment,
	more ...any) (probabilities [][]float32, action []int32) {
	out := must.M1(CallOnceN(must.M1(backend.Open(name)), func(in []*Node) []*Node {
		probabilities, action := Decide(p, in[1], moment(rng.New(in[0]), in[2:]))
		return []*Node{probabilities, action}
	}, append([]any{seeds, values}, more...)...))
	return out[0].Value().([][]float32), tensors.MustCopyFlatData[int32](out[1])
}

// seedsOf returns the seeds of n runs, 0 to n-1.
func seedsOf(n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(i)
	}
	return out
}

// decide runs a policy without random numbers.
func decide(name string, p Policy, values [][][]float32) (probabilities [][]float32, action []int32) {
	return decided(name, p, values, seedsOf(len(values)), func(rng.Stream, []*Node) Moment { return Moment{} })
}

// decideAt runs a policy for runs with the given seeds.
func decideAt(name string, p Policy, values [][][]float32, seeds []uint64) (probabilities [][]float32, action []int32) {
	return decided(name, p, values, seeds, func(s rng.Stream, _ []*Node) Moment { return Moment{Stream: s} })
}

// The action is the best action of the first function; among equal actions it is the lowest. The probabilities are the
// shares of functions whose best action each is, counted here by hand.
func TestThompson(t *testing.T) {
	inf := float32(math.Inf(1))
	values := [][][]float32{
		{{1, 5, 2, 0}, {9, 1, 1, 1}, {0, 1, 0, 1}, {0, 7, 0, 0}},       // best: 1, 0, 1 (tie with 3), 1
		{{-1, -1, -1, -1}, {0, 0, 0, 4}, {3, 2, 3, 3}, {0, 0, inf, 0}}, // best: 0 (all tie), 3, 0 (tie), 2
	}
	for _, name := range []string{backend.Go, backend.XLACPU} {
		if name != backend.Go && (!backend.HasXLA || backend.PluginPath("cpu") == "") {
			continue
		}
		probabilities, action := decide(name, Thompson{N: 4}, values)
		if got := fmt.Sprint(action, probabilities); got != "[1 0] [[0.25 0.75 0 0] [0.5 0 0.25 0.25]]" {
			t.Errorf("%s: got actions and probabilities %s", name, got)
		}
	}
}

func TestThompsonSamples(t *testing.T) {
	if a, b := (Thompson{}).Samples(), (Thompson{N: 7}).Samples(); a != 1 || b != 7 {
		t.Errorf("%d and %d samples, want 1 and 7", a, b)
	}
}

// Three functions over two actions: the first prefers action 1, the others action 0.
func ExampleThompson() {
	probabilities, action := decide(backend.Go, Thompson{N: 3}, [][][]float32{{{0, 1}, {2, 1}, {3, 1}}})
	fmt.Printf("%.2f %v\n", probabilities, action)
	// Output: [[0.67 0.33]] [1]
}
