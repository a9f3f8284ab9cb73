package explore

import (
	"cmp"
	"math"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Hosted is a policy that decides in plain Go, for one run: what Decide does without a program. One that embeds another
// is not taken for one: it may decide otherwise.
type Hosted interface {
	Policy
	// DecideOnHost returns what Decide does, up to rounding, for finite values [Samples][actions], one after the other.
	// period is how many decisions were taken before.
	DecideOnHost(values []float32, actions int, s rng.Host, period int32) (probabilities []float32, action int)
}

var (
	_ Hosted = Thompson{}
	_ Hosted = UCB{}
	_ Hosted = Greedy{}
	_ Hosted = EpsilonGreedy{}
)

// DecideOnHost takes the best action of the first function.
func (p Thompson) DecideOnHost(values []float32, actions int, _ rng.Host, _ int32) ([]float32, int) {
	counts := make([]float32, actions)
	for f := range slices.Chunk(values, actions) {
		counts[highest(f)]++
	}
	for i := range counts {
		counts[i] /= float32(len(values) / actions)
	}
	return counts, highest(values[:actions])
}

// highest is the place of the largest number, the first of equal ones.
func highest(x []float32) (at int) {
	for i, v := range x {
		if v > x[at] {
			at = i
		}
	}
	return at
}

// DecideOnHost takes the action with the largest quantile.
func (p UCB) DecideOnHost(values []float32, actions int, _ rng.Host, _ int32) ([]float32, int) {
	n := len(values) / actions
	k, score, own := p.rank(n), make([]float32, actions), make([]float32, n)
	for a := range score {
		for i := range own {
			own[i] = values[i*actions+a]
		}
		slices.Sort(own)
		score[a] = own[k-1]
	}
	return certainly(score)
}

// rank is k: the k-th smallest value is the quantile of n.
func (p UCB) rank(n int) int {
	return min(max(int(math.Ceil(cmp.Or(p.Quantile, 0.95)*float64(n)-1e-9)), 1), n)
}

// DecideOnHost takes the best action of the mean.
func (p Greedy) DecideOnHost(values []float32, actions int, _ rng.Host, _ int32) ([]float32, int) {
	return certainly(means(values, actions))
}

// means are those over functions.
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

// DecideOnHost explores uniformly, or takes the best action of the mean.
func (p EpsilonGreedy) DecideOnHost(values []float32, actions int, s rng.Host, period int32) ([]float32, int) {
	c := cmp.Or(float32(p.Anneal), 30)
	epsilon := c / (c + float32(period))
	probabilities, action := certainly(means(values, actions))
	for a := range probabilities {
		probabilities[a] = probabilities[a]*(1-epsilon) + epsilon/float32(actions)
	}
	var u [1]float32
	if s.Named("explore").Uniform(u[:]); u[0] < epsilon {
		var any [1]int32
		s.Named("uniform").Intn(actions, any[:])
		action = int(any[0])
	}
	return probabilities, action
}
