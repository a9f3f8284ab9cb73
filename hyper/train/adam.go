package train

import (
	"cmp"
	"errors"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Adam is the optimizer of Kingma and Ba (2015), computed by GoMLX. With a WeightDecay it is AdamW (Loshchilov and
// Hutter 2019).
type Adam struct {
	Beta1       float64 `help:"decay of the mean of gradients; 0 is 0.9"`
	Beta2       float64 `help:"decay of the mean square of gradients; 0 is 0.999"`
	Epsilon     float64 `help:"added to the root mean square of gradients; 0 is 1e-7"`
	WeightDecay float64 `help:"share of each parameter that a step of size 1 takes away"`
}

// Adamax is [Adam] with the largest gradient in the place of the root mean square (Kingma and Ba 2015), computed by
// GoMLX.
type Adamax Adam

// RMSProp is [Adam] without the mean of the gradients, computed by GoMLX. Beta1 is not read.
type RMSProp Adam

var _ = []Optimizer{Adam{}, Adamax{}, RMSProp{}}

// Init returns moments of zero.
func (o Adam) Init(nu []*Node) []*Node { return o.of(optimizer.Adam()).Init(nu) }

func (o Adam) Update(state, nu, grads []*Node, step *Node) (newState, newNu []*Node) {
	return o.of(optimizer.Adam()).Update(state, nu, grads, step)
}

// Init returns moments of zero.
func (o Adamax) Init(nu []*Node) []*Node { return Adam(o).of(optimizer.Adam().Adamax()).Init(nu) }

func (o Adamax) Update(state, nu, grads []*Node, step *Node) (newState, newNu []*Node) {
	return Adam(o).of(optimizer.Adam().Adamax()).Update(state, nu, grads, step)
}

// Init returns moments of zero.
func (o RMSProp) Init(nu []*Node) []*Node { return Adam(o).of(optimizer.RMSProp()).Init(nu) }

func (o RMSProp) Update(state, nu, grads []*Node, step *Node) (newState, newNu []*Node) {
	return Adam(o).of(optimizer.RMSProp()).Update(state, nu, grads, step)
}

// of returns a GoMLX optimizer with the settings.
func (o Adam) of(c *optimizer.AdamConfig) FromGoMLX {
	c = c.LearningRate(1).Betas(cmp.Or(o.Beta1, 0.9), cmp.Or(o.Beta2, 0.999)).Epsilon(cmp.Or(o.Epsilon, 1e-7))
	return FromGoMLX{c.WeightDecay(o.WeightDecay).Done()}
}

func (o Adam) Validate() error {
	decay := func(name string, x float64) error {
		if !(x >= 0 && x < 1) {
			return faults.New(name, "must be in [0, 1), got %v", x)
		}
		return nil
	}
	return errors.Join(decay("Beta1", o.Beta1), decay("Beta2", o.Beta2), faults.NotNegative("Epsilon", o.Epsilon),
		faults.NotNegative("WeightDecay", o.WeightDecay))
}

func (o Adamax) Validate() error { return Adam(o).Validate() }

func (o RMSProp) Validate() error { return Adam(o).Validate() }
