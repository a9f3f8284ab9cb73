package main

import (
	"errors"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Seasons is a world outside of the library: arms whose mean rewards rise and fall with the season, each at a different
// time.
type Seasons struct {
	Arms   int     `help:"number of arms"`
	Length float64 `run:"true" help:"periods of a year"`
	Noise  float64 `run:"true" help:"standard deviation of the rewards' noise"`
}

var _ bandit.World = &Seasons{}

// NewSeasons returns the world with four arms and years of 200 periods.
func NewSeasons() *Seasons { return &Seasons{Arms: 4, Length: 200, Noise: 0.1} }

func (w *Seasons) Validate() error {
	if w.Arms < 1 || !(w.Length > 0) || !(w.Noise >= 0) {
		return errors.New("seasons need arms, a positive length and a noise that is not negative")
	}
	return nil
}

func (w *Seasons) Problem() bandit.Problem { return bandit.Problem{Actions: w.Arms} }

func (w *Seasons) Init(s rng.Stream, _ hyper.Numbers) bandit.State {
	return bandit.State{"phase": s.Named("phase").Uniform(w.Arms)}
}

func (w *Seasons) Offer(state bandit.State, _ hyper.Numbers, _ rng.Stream, _ *Node) (bandit.Offer, bandit.State) {
	return bandit.Offer{}, state
}

func (w *Seasons) Step(state bandit.State, n hyper.Numbers, s rng.Stream, t, x *Node) (bandit.Outcome, bandit.State) {
	year := Div(ConvertDType(t, dtypes.Float32), n.Of(s, "Length", w.Length)) // [runs]
	means := Sin(MulScalar(Add(state["phase"], InsertAxes(year, -1)), 2*math.Pi))
	arm := Iota(x.Graph(), shapes.Make(dtypes.Int32, means.Shape().Dimensions...), 1)
	mean := ReduceSum(Where(Equal(arm, InsertAxes(x, -1)), means, ZerosLike(means)), 1)
	noise := Mul(Squeeze(s.Named("noise").Normal(1), 1), n.Of(s, "Noise", w.Noise))
	return bandit.Outcome{Reward: Add(mean, noise), Regret: Sub(ReduceMax(means, 1), mean)}, state
}
