package bandit

import (
	"errors"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Gaussian is the bandit of section 4.1: K independent arms with mean rewards theta* ~ N(0, sigma_p^2 I). The reward of
// arm x is theta*_x + W with W ~ N(0, sigma_w^2).
type Gaussian struct {
	Arms          int     `help:"number of arms K"`
	PriorVariance float64 `run:"true" help:"sigma_p^2: variance of the arms' mean rewards, and of the agent's prior"`
	NoiseVariance float64 `run:"true" help:"sigma_w^2: variance of the rewards' noise, which the agent knows"`
}

var _ MeanReporter = &Gaussian{}

// NewGaussian returns the bandit of section 4.1 with 10 arms.
func NewGaussian() *Gaussian { return &Gaussian{Arms: 10, PriorVariance: 2.25, NoiseVariance: 1} }

func (b *Gaussian) Validate() error {
	return errors.Join(faults.AtLeast("arms", b.Arms, 1), faults.Positive("prior-variance", b.PriorVariance),
		faults.Positive("noise-variance", b.NoiseVariance))
}

// Problem returns everything about the bandit except theta*.
func (b *Gaussian) Problem() Problem {
	return Problem{
		Actions: b.Arms, NoiseVariance: b.NoiseVariance, PriorVariance: b.PriorVariance,
		Truth: &Truth{Base: base.Tabular{Arms: b.Arms}, Variance: b.PriorVariance},
	}
}

// Init draws theta*, [runs, K].
func (b *Gaussian) Init(s rng.Stream, n hyper.Numbers) State {
	return State{"theta": b.truth(s.Named("theta"), n)}
}

// truth draws from N(0, sigma_p^2 I), [runs, K].
func (b *Gaussian) truth(s rng.Stream, n hyper.Numbers) *Node {
	return Mul(s.Normal(b.Arms), InsertAxes(Sqrt(n.Of(s, "PriorVariance", b.PriorVariance)), -1))
}

// Means returns the mean rewards in the state.
func (b *Gaussian) Means(state State) *Node { return state["theta"] }

func (b *Gaussian) Offer(state State, _ hyper.Numbers, _ rng.Stream, _ *Node) (Offer, State) {
	return Offer{}, state
}

// Step returns the reward theta*_x + W.
func (b *Gaussian) Step(state State, n hyper.Numbers, s rng.Stream, _, x *Node) (Outcome, State) {
	return reply(s, state["theta"], x, Sqrt(n.Of(s, "NoiseVariance", b.NoiseVariance))), state
}

// LeastRegret returns a lower bound on the expected cumulative regret of every possible agent in the given number of
// periods, over truths drawn from the prior. The bound is the regret of the best agent if rewards have no noise. Noise
// cannot help an agent, because the agent could add noise itself. (The bound is not in the paper.)
//
// Without noise, an arm is known after one try. Knowledge that is gained earlier can be used longer, so the best agent
// first tries new arms and then stays with the best arm that it has tried, of mean reward b. Suppose that r periods are
// left. Trying one more arm, X ~ N(0, sigma_p^2), instead of staying gains
//
//	(r-1) E[max(X - b, 0)] - b
//
// on average. This gain decreases as r decreases and b increases, so the problem is a stopping problem in the monotone
// case (Chow and Robbins 1961): the best agent tries arms exactly as long as the gain is positive. After k arms, b is
// distributed as the maximum M_k of k draws. The bound is T E[M_K] minus the sum of these gains.
func (b *Gaussian) LeastRegret(periods int) float64 {
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
				break // the gain stays negative for larger k
			}
			gains[i] += k * density * below * gain
			below *= cdf
		}
	}
	return math.Sqrt(b.PriorVariance) * (total*integrate.Simpsons(x, maximum) - integrate.Simpsons(x, gains))
}
