// Package bandit holds simulated environments: they own the truth, answer actions with rewards, and know the regret.
package bandit

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat/distuv"

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

// LeastRegret is a lower bound on the expected cumulative regret, over truths drawn from the prior, of any agent whatever in so many periods: the regret of
// the best agent where rewards have no noise. Noise does not help, since an agent could add it. (Ours; the paper has no such bound.)
//
// Without noise an arm is known once it is tried. What is learned earlier serves longer, so the best agent tries new arms first and then stays with the best
// that it has seen, b. To try one more of the arms, X ~ N(0, sigma_p^2), with r periods left in place of staying gains
//
//	(r-1) E[max(X - b, 0)] - b
//
// on average, which only falls as r falls and b rises: a stopping problem in the monotone case (Chow and Robbins 1961), where it is best to go on exactly as long
// as that is positive. With k arms tried b is distributed as the maximum M_k of k draws, and the bound is T E[M_K] less the sum of those gains.
func (b Gaussian) LeastRegret(periods int, priorVariance float64) float64 {
	unit, arms, total := distuv.UnitNormal, float64(b.Arms), float64(periods)
	x := floats.Span(make([]float64, 20_001), -10, 10)                 // b / sigma_p
	maximum, gains := make([]float64, len(x)), make([]float64, len(x)) // integrands of E[M_K] and of the sum of gains
	for i, x := range x {
		density, cdf := unit.Prob(x), unit.CDF(x)
		excess := density - x*unit.Survival(x) // E[max(X - x, 0)]
		maximum[i] = arms * density * math.Pow(cdf, arms-1) * x
		below := 1. // P(M_{k-1} < x)
		for k := 1.; k < min(arms, total); k++ {
			gain := (total-k-1)*excess - x
			if gain <= 0 {
				break // nor later
			}
			gains[i] += k * density * below * gain
			below *= cdf
		}
	}
	return math.Sqrt(priorVariance) * (total*integrate.Simpsons(x, maximum) - integrate.Simpsons(x, gains))
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
