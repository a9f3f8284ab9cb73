package explore

import (
	"cmp"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
)

// IDS is sample-based variance-IDS (section 3.2). From the sampled functions it estimates, for each action x, the
// regret r_x and the variance v_x of the mean reward over the possible best actions. It plays the probabilities pi that
// minimise the information ratio (pi.r)^2 / (pi.v). See [Information] and [MinimumRatio].
type IDS struct {
	N int `help:"number of functions drawn for each decision; 0 means 100"`
	// OnlyCandidates restricts the choice to actions that are best for some sampled function, as the paper remarks in
	// section 3.2 ("pi*_x = 0 if Z~_x is empty"). The minimiser itself has no such restriction: in section 5 the most
	// informative actions are actions that are certainly not the best.
	OnlyCandidates bool `help:"whether to choose only actions that are best for some function"`
}

var _ Policy = IDS{}

func (p IDS) Samples() int { return cmp.Or(p.N, 100) }

// Decide draws an action from the minimiser of the information ratio.
func (p IDS) Decide(values *Node, now Moment) (probabilities, action *Node) {
	regret, variance := Information(values)
	if p.OnlyCandidates {
		// An action with more regret than every other and without information is in no minimiser.
		none := Equal(ReduceMax(bestOf(values), 1), ScalarZero(values.Graph(), values.DType()))
		worse := AddScalar(MulScalar(ReduceAndKeep(regret, ReduceMax, 1), 2), 1)
		regret = Where(none, BroadcastToShape(worse, regret.Shape()), regret)
		variance = Where(none, ZerosLike(variance), variance)
	}
	pi := MinimumRatio(regret, variance)
	return pi.Probabilities(values.Shape().Dim(2)), pi.Draw(Squeeze(now.Stream.Named("ids").Uniform(1), 1))
}

// bestOf marks the best action of each function, [runs, functions, actions], with ones and zeros. Among equal actions
// it marks the lowest.
func bestOf(values *Node) *Node {
	return OneHot(ArgMax(values, 2, dtypes.Int32), values.Shape().Dim(2), values.DType())
}

// shares returns, for each action, the share of functions whose best action it is, [runs, actions]. The share is
// exactly 1 if the action is the best of all functions.
func shares(values *Node) *Node {
	n := Scalar(values.Graph(), values.DType(), float64(values.Shape().Dim(1)))
	return Div(ReduceSum(bestOf(values), 1), n) // DivScalar multiplies by 1/n, which rounds
}
