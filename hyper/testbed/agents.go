package testbed

import (
	"math"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// callSteps are the SGD steps of a call.
const callSteps = 50

// hidden are the widths of the agents' networks.
var hidden = []int{50, 50}

// network is an agent's network: with a logit for each class, as the testbed has it.
func network(inputs int, hidden ...int) base.LogOdds {
	return base.LogOdds{MLP: base.MLP{Layers: append(append([]int{inputs}, hidden...), 2)}}
}

// trained is a learner of classes by Adam, with minibatches of 100, an index set of so many indices a step, and
// weights that decay.
func trained(b hyper.Belief, step float64, indices int) learner.Learner {
	return learner.Learner{
		Belief: b, StepSize: step, FreeSteps: true, Perturbation: -1,
		Train: train.Config{Steps: callSteps, Batch: 100, Indices: indices, Loss: train.LogisticLoss{},
			Optimizer: train.Adam{}, Integrate: train.Sampled, Regularize: train.Decay},
	}
}

// steps are so many whatever the shape.
func steps(n int) func(int, int) int { return func(int, int) int { return n } }

// decay is the testbed's decay of weights, weight sqrt(rho) D/T sum theta^2 beside a mean loss: sigma_p^2 of the loss
// L~/|D|, whose regularizer is sum theta^2 / (2 sigma_p^2 T).
func decay(weight float64) func(p Problem) map[string]float64 {
	return func(p Problem) map[string]float64 {
		return map[string]float64{"PriorVariance": 1 / (2 * weight * math.Sqrt(p.Temperature) * float64(p.Inputs))}
	}
}

// with are numbers and more of them.
func with(numbers func(p Problem) map[string]float64, name string, x func(p Problem) float64) func(p Problem) map[string]float64 {
	return func(p Problem) map[string]float64 {
		out := numbers(p)
		out[name] = x(p)
		return out
	}
}

// particles is an ensemble of networks that start at random.
func particles(n int, net base.LogOdds) hyper.Model {
	return hyper.Model{Base: net, Hyper: hyper.Ensemble{Particles: n, Params: hyper.NumTheta(net),
		InitNu: hyper.InitTruncatedLayers(net.MLP, 0)}}
}

// MLP is the testbed's single network, by which others are judged.
func MLP() Agent {
	return Agent{Name: "mlp", About: "a single network",
		Learner: func(inputs, _ int) learner.Learner { return trained(particles(1, network(inputs, hidden...)), 1e-3, 1) },
		Numbers: decay(1), Steps: steps(1000),
	}
}

// Ensemble is the testbed's ensemble of so many networks, without prior functions: it has 100.
func Ensemble(n int) Agent {
	return Agent{Name: "ensemble", About: "networks that start apart",
		Learner: func(inputs, _ int) learner.Learner { return trained(particles(n, network(inputs, hidden...)), 1e-3, n) },
		Numbers: decay(1 / float64(n)), Steps: steps(1000),
	}
}

// BayesByBackprop is the testbed's, with an analytic divergence from N(0, 1).
func BayesByBackprop() Agent {
	return Agent{Name: "bbb", About: "Bayes by Backprop",
		Learner: func(inputs, _ int) learner.Learner {
			net := network(inputs, hidden...)
			l := trained(hyper.Model{Base: net, Hyper: hyper.MeanField{Params: hyper.NumTheta(net),
				InitM: hyper.InitTruncatedLayers(net.MLP, 0)}}, 3e-3, 8)
			l.Train.Regularize, l.PriorVariance = train.KL, 1
			return l
		},
		Numbers: func(p Problem) map[string]float64 {
			return map[string]float64{"KL": math.Sqrt(p.Temperature) * float64(p.Inputs)}
		},
		Steps: steps(1000),
	}
}

// Dropout is the testbed's: a tenth of the units of two hidden layers of 100 is dropped, by one mask a step. Its network
// has one output, the log odds.
func Dropout() Agent {
	return Agent{Name: "dropout", About: "a function is a mask of the units",
		Learner: func(inputs, _ int) learner.Learner {
			net := base.MLP{Layers: []int{inputs, 100, 100, 1}}
			return trained(hyper.Model{Base: net,
				Hyper: hyper.Dropout{Net: net, Keep: 0.9, InitNu: hyper.InitTruncatedLayers(net, 0)}}, 1e-3, 1)
		},
		Numbers: decay(1), Steps: steps(1000),
	}
}
