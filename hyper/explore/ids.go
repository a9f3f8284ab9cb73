package explore

import (
	"cmp"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
)

// IDS is sample-based variance-IDS (section 3.2): from the sampled functions it estimates the regret r_x of each action
// and the variance v_x of its reward over what the best action may be, and plays the probabilities pi that minimise the
// information ratio (pi.r)^2 / (pi.v). See [Information] and [MinimumRatio].
type IDS struct {
	N int `help:"functions drawn for each decision; 0 is 100"`
	// OnlyCandidates restricts the choice to actions that are best for some sampled function, as the paper remarks in
	// section 3.2 ("pi*_x = 0 if Z~_x is empty"). The minimiser itself does not: in section 5 it is actions that are
	// surely not the best that tell most.
	OnlyCandidates bool `help:"whether only actions that are best for some function are taken"`
}

var _ Policy = IDS{}

func (p IDS) Samples() int { return cmp.Or(p.N, 100) }

// Decide draws an action from the minimiser of the information ratio.
func (p IDS) Decide(values *Node, now Moment) (probabilities, action *Node) {
	regret, variance := Information(values)
	if p.OnlyCandidates {
		// An action of more regret than any, which tells nothing, is in no minimiser.
		none := Equal(ReduceMax(bestOf(values), 1), ScalarZero(values.Graph(), values.DType()))
		worse := AddScalar(MulScalar(ReduceAndKeep(regret, ReduceMax, 1), 2), 1)
		regret = Where(none, BroadcastToShape(worse, regret.Shape()), regret)
		variance = Where(none, ZerosLike(variance), variance)
	}
	pi := MinimumRatio(regret, variance)
	return pi.Probabilities(values.Shape().Dim(2)), pi.Draw(Squeeze(now.Stream.Named("ids").Uniform(1), 1))
}

// bestOf tells which action is best for each function, ties going to the lowest: ones and zeros of the shape of values.
func bestOf(values *Node) *Node {
	return OneHot(ArgMax(values, 2, dtypes.Int32), values.Shape().Dim(2), values.DType())
}

// shares returns the shares of functions whose best action each is, [runs, actions]: exactly 1 where it is that of all.
func shares(values *Node) *Node {
	n := Scalar(values.Graph(), values.DType(), float64(values.Shape().Dim(1)))
	return Div(ReduceSum(bestOf(values), 1), n) // DivScalar multiplies by 1/n, which rounds
}
