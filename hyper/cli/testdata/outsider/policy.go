package main

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/explore"
)

// Boltzmann is a policy outside of the library: probabilities are proportional to e^(f/Temperature), where f is the
// mean over some functions.
type Boltzmann struct {
	Functions   int     `help:"functions drawn for each decision"`
	Temperature float64 `run:"true" help:"the higher the more it explores"`
}

var _ explore.Policy = Boltzmann{}

func (p Boltzmann) Samples() int { return p.Functions }

func (p Boltzmann) Decide(values *Node, now explore.Moment) (probabilities, action *Node) {
	t := now.Numbers.Of(now.Stream, "Temperature", p.Temperature)
	score := Div(ReduceMean(values, 1), InsertAxes(t, -1))
	if now.Available != nil {
		score = Where(now.Available, score, BroadcastToShape(Infinity(score.Graph(), score.DType(), -1), score.Shape()))
	}
	gumbel := Neg(Log(Neg(Log(now.Stream.Named("boltzmann").Uniform(score.Shape().Dim(1))))))
	return Softmax(score, -1), ArgMax(Add(score, gumbel), 1, dtypes.Int32)
}
