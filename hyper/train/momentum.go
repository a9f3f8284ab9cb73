package train

import (
	"cmp"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Momentum is SGD with a velocity v <- Decay v + gradient (Polyak 1964): nu <- nu - step v. With Nesterov's look ahead
// it is nu <- nu - step (gradient + Decay v). In the long run Momentum moves 1 / (1 - Decay) times as far as SGD.
// [Config.StepLimit] does not hold for Momentum.
type Momentum struct {
	Decay    float64 `help:"share of the velocity that a step keeps; 0 is 0.9"`
	Nesterov bool    `help:"look ahead by one step"`
}

var _ Optimizer = Momentum{}

// Init returns velocities of zero.
func (o Momentum) Init(nu []*Node) []*Node {
	out := make([]*Node, len(nu))
	for i, v := range nu {
		out[i] = ZerosLike(v)
	}
	return out
}

func (o Momentum) Update(state, nu, grads []*Node, step *Node) (newState, newNu []*Node) {
	decay := cmp.Or(o.Decay, 0.9)
	for i, g := range grads {
		v := Add(MulScalar(state[i], decay), g)
		newState = append(newState, v)
		if o.Nesterov {
			v = Add(MulScalar(v, decay), g)
		}
		newNu = append(newNu, Sub(nu[i], Mul(perRun(step, nu[i]), v)))
	}
	return newState, newNu
}

// Validate reports a Decay out of range.
func (o Momentum) Validate() error {
	if !(o.Decay >= 0 && o.Decay < 1) {
		return faults.New("Decay", "must be in [0, 1), got %v", o.Decay)
	}
	return nil
}
