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

// Gaussian is the bandit of section 4.1: K independent arms with mean rewards theta* ~ N(0, sigma_p^2 I), and rewards
// theta*_x + W with W ~ N(0, sigma_w^2).
type Gaussian struct {
	Arms          int     `help:"number of arms K"`
	PriorVariance float64 `run:"true" help:"sigma_p^2: variance of the arms' mean rewards, and of the agent's prior"`
	NoiseVariance float64 `run:"true" help:"sigma_w^2: variance of the rewards' noise, as the agent knows it"`
}

var _ Told = &Gaussian{}

// NewGaussian returns the bandit of section 4.1 with 10 arms.
func NewGaussian() *Gaussian { return &Gaussian{Arms: 10, PriorVariance: 2.25, NoiseVariance: 1} }

func (b *Gaussian) Validate() error {
	return errors.Join(faults.AtLeast("arms", b.Arms, 1), faults.Positive("prior-variance", b.PriorVariance),
		faults.Positive("noise-variance", b.NoiseVariance))
}

// Problem is all but theta*.
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

// Means are those of the state.
func (b *Gaussian) Means(state State) *Node { return state["theta"] }

func (b *Gaussian) Offer(state State, _ hyper.Numbers, _ rng.Stream, _ *Node) (Offer, State) {
	return Offer{}, state
}

// Step returns theta*_x + W.
func (b *Gaussian) Step(state State, n hyper.Numbers, s rng.Stream, _, x *Node) (Outcome, State) {
	return reply(s, state["theta"], x, Sqrt(n.Of(s, "NoiseVariance", b.NoiseVariance))), state
}

// LeastRegret is a lower bound on the expected cumulative regret, over truths drawn from the prior, of any agent
// whatever in so many periods: the regret of the best agent where rewards have no noise. Noise does not help, since an
// agent could add it. (Ours; the paper has no such bound.)
//
// Without noise an arm is known once it is tried. What is learned earlier serves longer, so the best agent tries new
// arms first and then stays with the best that it has seen, b. To try one more of the arms, X ~ N(0, sigma_p^2), with r
// periods left in place of staying gains
//
//	(r-1) E[max(X - b, 0)] - b
//
// on average, which only falls as r falls and b rises: a stopping problem in the monotone case (Chow and Robbins 1961),
// where it is best to go on exactly as long as that is positive. With k arms tried b is distributed as the maximum M_k
// of k draws, and the bound is T E[M_K] less the sum of those gains.
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
				break // nor later
			}
			gains[i] += k * density * below * gain
			below *= cdf
		}
	}
	return math.Sqrt(b.PriorVariance) * (total*integrate.Simpsons(x, maximum) - integrate.Simpsons(x, gains))
}
