package testbed

import (
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// callSteps is the number of SGD steps of a call. An agent of FromCatalog may have fewer.
const callSteps = 50

// hidden holds the widths of the hidden layers of the agents' networks.
var hidden = []int{50, 50}

// network returns an agent's network and the same network as a base model. For classes the network has a logit for each
// class, as in the testbed; for responses it has one output.
func (k Kind) network(inputs int, hidden ...int) (base.MLP, hyper.BaseModel) {
	layers := append([]int{inputs}, hidden...)
	if k == Classes {
		net := base.MLP{Layers: append(layers, 2)}
		return net, base.LogOdds{MLP: net}
	}
	net := base.MLP{Layers: append(layers, 1)}
	return net, net
}

// trained returns a learner of classes that is trained by Adam with decay of weights. Each step has a minibatch of 100
// data and the given number of indices.
func trained(b hyper.Belief, step float64, indices int) learner.Learner {
	return learner.Learner{
		Belief: b, StepSize: step, FreeSteps: true,
		Train: train.Config{Steps: callSteps, Batch: 100, Indices: indices, Loss: train.LogisticLoss{},
			Optimizer: train.Adam{}, Integrate: train.Sampled, Regularize: train.Decay, Unperturbed: true},
	}
}

// steps returns a function that gives n steps for every shape.
func steps(n int) func(int, int) int { return func(int, int) int { return n } }

// decay returns the testbed's decay of weights: the penalty weight sqrt(rho) D/T sum theta^2, added to a mean loss. It
// is expressed by the prior variance sigma_p^2, because the regularizer of the loss L~/|D| is sum theta^2 / (2
// sigma_p^2 T).
func decay(weight float64) func(p Problem) map[string]float64 {
	return func(p Problem) map[string]float64 {
		return map[string]float64{"PriorVariance": 1 / (2 * weight * math.Sqrt(p.Temperature) * float64(p.Inputs))}
	}
}

// withPrior returns the given numbers, and the scale of the outputs of fixed prior functions at a temperature.
func withPrior(numbers func(p Problem) map[string]float64,
	scale func(rho float64) float64) func(Problem) map[string]float64 {
	return func(p Problem) map[string]float64 {
		out, x := numbers(p), scale(p.Temperature)
		out["InitVariance"] = x * x
		return out
	}
}

// particles returns an ensemble of n networks with random initial weights.
func (k Kind) particles(n, inputs int) hyper.Model {
	net, model := k.network(inputs, hidden...)
	return hyper.Model{Base: model, Hyper: hyper.Ensemble{Particles: n, Params: hyper.NumTheta(model),
		InitNu: hyper.InitTruncatedLayers(net, 0)}}
}

// MLP returns the testbed's single network: the baseline to which other agents are compared.
func MLP(k Kind) Agent {
	return k.agent(Agent{Name: "mlp",
		Learner: func(inputs, _ int) learner.Learner { return trained(k.particles(1, inputs), 1e-3, 1) },
		Numbers: decay(1), Steps: steps(1000),
	})
}

// Ensemble returns the testbed's ensemble of n networks without prior functions. The testbed has n = 100.
func Ensemble(k Kind, n int) Agent {
	return k.agent(Agent{Name: "ensemble",
		Learner: func(inputs, _ int) learner.Learner { return trained(k.particles(n, inputs), 1e-3, n) },
		Numbers: decay(1 / float64(n)), Steps: steps(1000),
	})
}

// EnsemblePlus returns the testbed's agent ensemble+, with n networks. Each is the sum of a trained network and a fixed
// network of the same kind, whose output is multiplied by 3/sqrt(rho). The testbed has n = 100.
func EnsemblePlus(k Kind, n int) Agent {
	return k.agent(Agent{Name: "ensemble+",
		Learner: func(inputs, _ int) learner.Learner {
			net, model := k.network(inputs, hidden...)
			b := k.particles(n, inputs)
			b.Prior = &hyper.Prior{Base: model, Layout: hyper.Dense(hyper.NumTheta(model), n),
				InitB: hyper.InitTruncatedLayers(net, 1/math.Sqrt(float64(inputs))), Output: net.Output()}
			return trained(b, 1e-3, n)
		},
		Numbers: withPrior(decay(1/float64(n)), func(rho float64) float64 { return 3 / math.Sqrt(rho) }),
		Steps:   steps(1000),
	})
}

// hypermodelIndex is the length of the index of the agent [Hypermodel].
const hypermodelIndex = 6

// Hypermodel returns the testbed's linear hypermodel, theta = mu + C z with z from N(0, I/6), plus a fixed network
// times 1/sqrt(rho). The fixed network has a hidden layer of 10 units, and each of its two layers depends on one half
// of the index. mu and C start as in the library enn since 20 May 2022 (commit 83d3b06).
func Hypermodel(k Kind) Agent {
	return k.agent(Agent{Name: "hypermodel",
		Learner: func(inputs, _ int) learner.Learner {
			net, model := k.network(inputs, hidden...)
			small, fixed := k.network(inputs, 10)
			b := hyper.Model{Base: model, Hyper: hyper.Linear{Layout: hyper.Dense(hyper.NumTheta(model), hypermodelIndex),
				P:     index.Scaled{N: hypermodelIndex, Deviation: 1 / math.Sqrt(hypermodelIndex)},
				InitM: byArray(net, func(size float64) float64 { return 1 / math.Sqrt(size) }),
				InitC: byArray(net, func(size float64) float64 { return math.Sqrt(2 / (hypermodelIndex + size)) })},
				Prior: &hyper.Prior{Base: fixed, Layout: hyper.PerGroup(fixed, hypermodelIndex/2), Rows: hyper.RowsSphere,
					StdDev: fanInAfterFirst(small), Output: small.Output()}}
			return trained(b, 1e-3, 16)
		},
		Numbers: withPrior(decay(1), func(rho float64) float64 { return 1 / math.Sqrt(rho) }),
		Steps:   steps(2000),
	})
}

// byArray draws rows for the parameters of a network from a normal distribution that is truncated at two standard
// deviations. After truncation the standard deviation is sd(size), where size is the number of parameters in the array
// of weights, or of biases, that a row belongs to. The library enn starts mu and C so, by hk.VarianceScaling with
// fan_avg.
func byArray(net base.MLP, sd func(size float64) float64) hyper.Initializer {
	const truncated = 0.87962566103423978 // standard deviation of N(0, 1) truncated at 2
	var deviations []float32
	for i := range len(net.Layers) - 1 {
		for _, size := range []int{net.Layers[i] * net.Layers[i+1], net.Layers[i+1]} {
			deviations = append(deviations, slices.Repeat([]float32{float32(sd(float64(size)) / truncated)}, size)...)
		}
	}
	return func(s rng.Stream, fanIn, fanOut int, dims ...int) *Node {
		shape := append([]int{1, len(deviations)}, slices.Repeat([]int{1}, len(dims)-1)...)
		draws := hyper.InitTruncatedNormal(1)(s, fanIn, fanOut, dims...)
		return Mul(draws, Reshape(Const(s.Graph(), deviations), shape...))
	}
}

// fanInAfterFirst returns 1/sqrt(fan-in) for each weight of a network after the first layer, and 1 for weights of the first
// layer and for biases.
func fanInAfterFirst(net base.MLP) (out []float64) {
	for i := range len(net.Layers) - 1 {
		in, width, sd := net.Layers[i], net.Layers[i+1], 1.0
		if i > 0 {
			sd = 1 / math.Sqrt(float64(in))
		}
		out = append(out, slices.Repeat([]float64{sd}, in*width)...)
		out = append(out, slices.Repeat([]float64{1}, width)...)
	}
	return out
}

// Epinet returns the testbed's epinet: see [hyper.Epinet]. The outputs of its fixed networks are multiplied by 0.3/rho.
// It has one output, the log odds.
func Epinet(k Kind) Agent {
	return k.agent(Agent{Name: "epinet",
		Learner: func(inputs, _ int) learner.Learner {
			b := hyper.NewEpinet(inputs)
			b.Truncated = true
			return trained(b, 1e-3, 8)
		},
		Numbers: withPrior(func(p Problem) map[string]float64 {
			data := float64(p.Data)
			decay := 0.2 * math.Pow(float64(p.Inputs)/data, 0.7)
			return map[string]float64{"PriorVariance": 1 / (2 * data * decay)}
		}, func(rho float64) float64 { return 0.3 / rho }),
		Steps: func(inputs, data int) int {
			if data > 500*inputs {
				return 10_000
			}
			return 1000
		},
	})
}

// NetworkGP returns an agent that the testbed does not have: the testbed's single network plus the deviations of a
// Gaussian process, see [hyper.NetworkGP]. Before data the deviations have standard deviation 0.1/rho. The agent has
// one output, the log odds.
func NetworkGP(k Kind) Agent {
	return k.agent(Agent{Name: "network-gp",
		Learner: func(inputs, _ int) learner.Learner {
			b := hyper.NewNetworkGP(inputs)
			b.Truncated = true
			return trained(b, 1e-3, 1)
		},
		Numbers: withPrior(decay(1), func(rho float64) float64 { return 0.1 / rho }), Steps: steps(1000),
	})
}

// bayesByBackprop returns the testbed's Bayes by Backprop, with an analytic divergence from N(0, 1).
func bayesByBackprop(k Kind) Agent {
	return k.agent(Agent{Name: "bbb",
		Learner: func(inputs, _ int) learner.Learner {
			net, model := k.network(inputs, hidden...)
			l := trained(hyper.Model{Base: model, Hyper: hyper.MeanField{Params: hyper.NumTheta(model),
				InitM: hyper.InitTruncatedLayers(net, 0)}}, 3e-3, 8)
			l.Train.Regularize, l.PriorVariance = train.KL, 1
			return l
		},
		Numbers: func(p Problem) map[string]float64 {
			return map[string]float64{"KL": math.Sqrt(p.Temperature) * float64(p.Inputs)}
		},
		Steps: steps(1000),
	})
}

// Dropout returns the testbed's dropout network: a tenth of the units of two hidden layers of 100 units is dropped, by
// one mask for each step. The network has one output, the log odds.
func Dropout(k Kind) Agent {
	return k.agent(Agent{Name: "dropout",
		Learner: func(inputs, _ int) learner.Learner {
			net := base.MLP{Layers: []int{inputs, 100, 100, 1}}
			return trained(hyper.Model{Base: net,
				Hyper: hyper.Dropout{Net: net, Keep: 0.9, InitNu: hyper.InitTruncatedLayers(net, 0)}}, 1e-3, 1)
		},
		Numbers: decay(1), Steps: steps(1000),
	})
}

// agent returns an agent for a kind of sweep. a is the agent for classes, with the network of the kind. An agent of
// regression learns responses with the loss (f(x) - y)^2 / (2 sigma^2). Its settings equal the settings for classes with
// rho = 1. An agent with fixed prior functions adds noise to the data, different for each function and as large as the
// noise of the data, so that its functions differ as draws from a posterior do. The deviations of network-gp have the
// variance of the truth.
func (k Kind) agent(a Agent) Agent {
	if k == Classes {
		return a
	}
	usual, numbers := a.Learner, a.Numbers
	a.Learner = func(inputs, data int) learner.Learner {
		l := usual(inputs, data)
		l.Train.Loss = train.Gaussian{}
		switch a.Name {
		case "ensemble+", "hypermodel", "epinet":
			l.Train.Unperturbed = false
		}
		return l
	}
	a.Numbers = func(p Problem) map[string]float64 {
		p.Temperature = 1
		out := numbers(p)
		out["NoiseVariance"] = p.Noise * p.Noise
		if a.Name == "network-gp" {
			out["InitVariance"] = p.processTruth().Variance()
		}
		return out
	}
	return a
}

// Agents returns the testbed's agents for a sweep, with the settings of the testbed's code, and [NetworkGP]. In sweeps
// with anchors, agents make five times the steps for more than 500 data for each input, and a fifth of the steps for
// fewer than 5. Two agents do not: epinet, and mlp (by an oversight of the testbed's code, which its published scores
// share).
//
// For regression the testbed's code has a loss (gaussian_regression_loss: squares, with targets as noisy as the data)
// but no settings: all its agents assert that there are classes. The settings here equal the settings for classes with
// rho = 1.
func Agents(s Sweep) []Agent {
	k := s.Kind
	all := []Agent{MLP(k), Ensemble(k, 100), EnsemblePlus(k, 100), Hypermodel(k), Epinet(k), Dropout(k),
		bayesByBackprop(k), NetworkGP(k)}
	for i, a := range all {
		if s.Anchors > 0 && a.Name != "mlp" && a.Name != "epinet" {
			all[i].Steps = byRatio(1000)
		}
	}
	return all
}

// byRatio returns the number of steps in sweeps with anchors, which depends on the number of data for each input.
func byRatio(n int) func(inputs, data int) int {
	return func(inputs, data int) int {
		switch {
		case data > 500*inputs:
			return 5 * n
		case data < 5*inputs:
			return n / 5
		}
		return n
	}
}
