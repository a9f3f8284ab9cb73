package paper

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// hypermodelAgent is a hypermodel trained by SGD, exploring by a policy.
type hypermodelAgent struct {
	trainer  train.Trainer
	policy   explore.Policy
	visited  int    // what the step-size key is multiplied by to give the paper's alpha, see SGD
	variance string // the key whose square root multiplies D of the prior; "" is none

	priorVariance func(in lab.Inputs) *Node // sigma_p^2 of the loss, where it is not a key; nil where it is
}

func newAgent(m hyper.Model, c train.Config, variance string, e Exploration) hypermodelAgent {
	a := hypermodelAgent{trainer: train.Trainer{Model: m, Config: c}, policy: e.policy(), visited: 1, variance: variance}
	// The gradient is a mean over particles. Optimizers other than sgd divide by its size, so that their step does not depend on how many.
	if p, finite := m.Index().(index.Enumerable); finite && (c.Optimizer == "" || c.Optimizer == "sgd") {
		a.visited = c.Indices
		if c.Integrate != train.Sampled {
			a.visited = p.Dim()
		}
	}
	return a
}

func (a hypermodelAgent) Init(s rng.Stream, in lab.Inputs) lab.State {
	var scale *Node
	if a.variance != "" {
		scale = Sqrt(in[a.variance])
	}
	return lab.State(a.trainer.Init(s, scale))
}

func (a hypermodelAgent) Act(state lab.State, in lab.Inputs, s rng.Stream, period, actions *Node) (action, values *Node) {
	values = a.trainer.Model.Sample(a.trainer.Params(train.State(state)), s, a.policy.Samples(), actions)
	_, action = a.policy.Decide(values, explore.Moment{Stream: s.Named("policy"), Period: period, Anneal: in["anneal"]})
	return action, values
}

func (a hypermodelAgent) Learn(state lab.State, in lab.Inputs, s rng.Stream, period, action, reward, actions *Node) lab.State {
	r := rates(in, a.visited)
	if a.priorVariance != nil {
		r.PriorVar = a.priorVariance(in)
	}
	next := a.trainer.Observe(train.State(state), s, period, action, reward, actions, r)
	return lab.State(a.trainer.Train(next, s, AddScalar(period, int32(1)), actions, r))
}

// Computation is n_sgd n_z n_data n_params; the closed forms count each particle, or one index, and full-data
// statistics one datum for each parameter row. The exact minimiser is moved once, by one datum, with what is kept of
// the data's inputs.
func (a hypermodelAgent) Computation() float64 {
	c, indices, data := a.trainer.Config, float64(a.trainer.Indices), float64(a.trainer.Batch)
	if c.Integrate != train.Sampled {
		indices = 1
		if p, ok := a.trainer.Model.Index().(index.Enumerable); ok {
			indices = float64(p.Dim())
		}
	}
	involved := float64(a.trainer.Model.Hyper.NumInvolved())
	switch c.Integrate {
	case train.Exact:
		return indices*involved + float64(train.GainSize(a.trainer.Model))
	case train.FullData:
		data = 1
	}
	return float64(c.Steps) * indices * data * involved
}
