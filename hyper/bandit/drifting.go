package bandit

import (
	"errors"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Drifting is the Gaussian bandit of section 4.1 with mean rewards that change. theta* starts as in [Gaussian]. From
// one period to the next it becomes sqrt(1-d) theta* + sqrt(d) sigma_p W, with W ~ N(0, I) and d the Drift. It is
// therefore N(0, sigma_p^2 I) in every period, and has a correlation of (1-d)^(k/2) with its value k periods before.
// Regret is relative to the best arm of the period. Without drift, Drifting equals Gaussian exactly. LeastRegret is a
// bound for arms that do not change; it does not apply here.
type Drifting struct {
	Gaussian
	Drift float64 `run:"true" help:"d, from 0 to 1: share of the variance of mean rewards that is new in each period"`
}

var _ MeanReporter = &Drifting{}

// NewDrifting returns a bandit with 10 arms. Their mean rewards have a correlation of 1/2 over about 140 periods.
func NewDrifting() *Drifting {
	return &Drifting{Gaussian: *NewGaussian(), Drift: 0.01}
}

func (b *Drifting) Validate() error {
	var drift error
	if !(b.Drift >= 0 && b.Drift <= 1) {
		drift = fmt.Errorf("drift must be from 0 to 1, got %v", b.Drift)
	}
	return errors.Join(b.Gaussian.Validate(), drift)
}

// Step returns the reward theta*_x + W, and changes theta* for the next period.
func (b *Drifting) Step(state State, n hyper.Numbers, s rng.Stream, _, x *Node) (Outcome, State) {
	out := reply(s, state["theta"], x, Sqrt(n.Of(s, "NoiseVariance", b.NoiseVariance)))
	drift := InsertAxes(n.Of(s, "Drift", b.Drift), -1)
	theta := Add(Mul(state["theta"], Sqrt(OneMinus(drift))), Mul(b.truth(s.Named("drift"), n), Sqrt(drift)))
	return out, State{"theta": theta}
}
