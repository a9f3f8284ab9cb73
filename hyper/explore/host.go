package explore

import (
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Hosted is a policy that can also decide in plain Go, for one run, without a compiled program. A policy that embeds a
// Hosted policy does not count as Hosted, because it may decide in another way.
//
// The graph form of each policy serves experiments, with many runs at once. The plain-Go form serves an agent, for
// which the call of a program costs more than the decision. A decision of an agent among 50 actions then takes 5 to 100
// times less processor time with one sampled function, 3 to 40 times less for UCB, and 1.3 to 40 times less for IDS, by
// the belief, the backend and the number of functions: BenchmarkHost in package agent.
type Hosted interface {
	Policy
	// DecideOnHost returns the same as Decide, up to rounding, for finite values. values holds Samples rows of the
	// given number of actions, one row after the other. period is the number of decisions taken before.
	DecideOnHost(values []float32, actions int, s rng.Host, period int32) (probabilities []float32, action int)
}

// HostedNormal is a Hosted policy that can also decide from the normal distributions of values, which needs less work
// than the values themselves. A policy that embeds a HostedNormal policy does not count as HostedNormal.
type HostedNormal interface {
	Hosted
	// DecideByNormals returns the same as DecideOnHost for the values mean[a] + sd[a] z[k][a], where z
	// [Samples][actions] are the normal numbers of the stream.
	DecideByNormals(mean, sd []float32, z rng.Host) (probabilities []float32, action int)
}

var (
	_ HostedNormal = UCB{}

	_ = []Hosted{Thompson{}, Greedy{}, EpsilonGreedy{}, IDS{}}
)

// highest returns the index of the largest number; among equal numbers, the first.
func highest(x []float32) (at int) {
	for i, v := range x {
		if v > x[at] {
			at = i
		}
	}
	return at
}
