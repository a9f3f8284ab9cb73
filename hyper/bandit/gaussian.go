// Package bandit holds simulated environments: they own the truth, answer actions with rewards, and know the regret.
package bandit

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Gaussian is the bandit of section 4.1: K independent arms with mean rewards theta* ~ N(0, sigma_p^2 I), and rewards
// theta*_x + W with W ~ N(0, sigma_w^2).
type Gaussian struct{ Arms int }

// Init draws theta*, [runs, K], for prior variances sigma_p^2 [runs].
func (b Gaussian) Init(s rng.Stream, priorVariance *Node) *Node {
	return Mul(s.Named("theta").Normal(b.Arms), InsertAxes(Sqrt(priorVariance), -1))
}

// Step returns the rewards of the actions x (int32 [runs]) and their expected regrets max theta* - theta*_x, each
// [runs], for noise variances sigma_w^2 [runs]. The noise W of a period does not depend on the action, so that two agents on
// one seed meet the same environment.
func (b Gaussian) Step(s rng.Stream, theta, x, noiseVariance *Node) (reward, regret *Node) {
	return step(s, theta, x, Sqrt(noiseVariance))
}

// step is the answer of a bandit with the given mean rewards [runs, actions] and standard deviation of the noise [runs].
func step(s rng.Stream, means, x, noise *Node) (reward, regret *Node) {
	mean := pick(means, x)
	w := Mul(Squeeze(s.Named("noise").Normal(1), 1), noise)
	return Add(mean, w), Sub(ReduceMax(means, 1), mean)
}

// pick returns values[run, x[run]] for values [runs, actions] and x int32 [runs].
func pick(values, x *Node) *Node {
	at := Equal(Iota(x.Graph(), shapes.Make(dtypes.Int32, values.Shape().Dimensions...), 1), InsertAxes(x, -1))
	return ReduceSum(Where(at, values, ZerosLike(values)), 1)
}
