package explore

import (
	"cmp"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Greedy takes the action with the best mean over the sampled functions. With many functions it explores only through
// the noise of training. With one function, the default, it is greedy only for a belief that is a single network; for
// other beliefs it is Thompson sampling, so set N, for example to 100. A tie goes to the lowest action number.
type Greedy struct {
	N int `help:"number of functions drawn for a decision; 0 means 1, for one network; other beliefs need more"`
}

var _ Policy = Greedy{}

func (p Greedy) Samples() int  { return cmp.Or(p.N, 1) }
func (p Greedy) Ordinal() bool { return p.Samples() == 1 }

// Decide takes the best action of the mean.
func (p Greedy) Decide(values *Node, _ Moment) (probabilities, action *Node) {
	return certain(ReduceMean(values, 1))
}

// certain takes the action with the largest score, [runs, actions], with probability 1.
func certain(score *Node) (probabilities, action *Node) {
	action = ArgMax(score, 1, dtypes.Int32)
	return OneHot(action, score.Shape().Dim(1), score.DType()), action
}

// DecideOnHost takes the best action of the mean.
func (p Greedy) DecideOnHost(values []float32, actions int, _ rng.Host, _ int32) ([]float32, int) {
	return certainly(means(values, actions))
}

// means returns the mean values of the actions over functions.
func means(values []float32, actions int) []float32 {
	out := make([]float32, actions)
	for f := range slices.Chunk(values, actions) {
		for a, v := range f {
			out[a] += v
		}
	}
	for a := range out {
		out[a] /= float32(len(values) / actions)
	}
	return out
}

// certainly takes the action with the largest score with probability 1.
func certainly(score []float32) (probabilities []float32, action int) {
	probabilities, action = make([]float32, len(score)), highest(score)
	probabilities[action] = 1
	return probabilities, action
}
