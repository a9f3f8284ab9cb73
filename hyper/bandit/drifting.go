package bandit

import (
	"errors"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Drifting is the Gaussian bandit of section 4.1 whose mean rewards change: theta* begins as there, and from period to
// period it becomes sqrt(1-d) theta* + sqrt(d) sigma_p W, W ~ N(0, I) and d the Drift. So it is N(0, sigma_p^2 I) in
// every period, and has a correlation of (1-d)^(k/2) with what it was k periods before. Regret is to the best arm of
// the period. Without drift it is [Gaussian], number for number.
type Drifting struct {
	Arms          int     `help:"number of arms K"`
	PriorVariance float64 `run:"true" help:"sigma_p^2: variance of the arms' mean rewards, and of the agent's prior"`
	NoiseVariance float64 `run:"true" help:"sigma_w^2: variance of the rewards' noise, as the agent knows it"`
	Drift         float64 `run:"true" help:"d, from 0 to 1: share of the variance of mean rewards that is new in each period"`
}

var _ World = &Drifting{}

// NewDrifting returns a bandit with 10 arms, whose mean rewards have a correlation of 1/2 over some 140 periods.
func NewDrifting() *Drifting {
	return &Drifting{Arms: 10, PriorVariance: 2.25, NoiseVariance: 1, Drift: 0.01}
}

// Validate reports what is wrong.
func (b *Drifting) Validate() error {
	var drift error
	if !(b.Drift >= 0 && b.Drift <= 1) {
		drift = fmt.Errorf("drift must be from 0 to 1, got %v", b.Drift)
	}
	return errors.Join(faults.AtLeast("arms", b.Arms, 1), faults.Positive("prior-variance", b.PriorVariance),
		faults.Positive("noise-variance", b.NoiseVariance), drift)
}

// Problem is all but theta*, which in each period has the distribution of Truth.
func (b *Drifting) Problem() Problem {
	return Problem{
		Actions: b.Arms, NoiseVariance: b.NoiseVariance, PriorVariance: b.PriorVariance,
		Truth: &Truth{Base: base.Tabular{Arms: b.Arms}, Variance: b.PriorVariance},
	}
}

// Init draws theta*, [runs, K].
func (b *Drifting) Init(s rng.Stream, n hyper.Numbers) State {
	return State{"theta": b.draw(s.Named("theta"), n)}
}

// draw draws from N(0, sigma_p^2 I), [runs, K].
func (b *Drifting) draw(s rng.Stream, n hyper.Numbers) *Node {
	return Mul(s.Normal(b.Arms), InsertAxes(Sqrt(n.Of(s, "PriorVariance", b.PriorVariance)), -1))
}

// Offer offers all arms.
func (b *Drifting) Offer(state State, _ hyper.Numbers, _ rng.Stream, _ *Node) (Offer, State) {
	return Offer{}, state
}

// Step returns theta*_x + W, and moves theta*.
func (b *Drifting) Step(state State, n hyper.Numbers, s rng.Stream, _, x *Node) (Outcome, State) {
	out := reply(s, state["theta"], x, Sqrt(n.Of(s, "NoiseVariance", b.NoiseVariance)))
	drift := InsertAxes(n.Of(s, "Drift", b.Drift), -1)
	theta := Add(Mul(state["theta"], Sqrt(OneMinus(drift))), Mul(b.draw(s.Named("drift"), n), Sqrt(drift)))
	return out, State{"theta": theta}
}
