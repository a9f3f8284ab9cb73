package testbed

import (
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// regression returns an agent with one output that learns responses. Its loss is (f(x) - y)^2 / (2 sigma^2). Its
// settings equal the settings for classes with rho = 1. An agent with fixed prior functions adds noise to the data,
// different for each function and as large as the noise of the data, so that its functions differ as draws from a
// posterior do. The deviations of network-gp have the variance of the truth.
func regression(a Agent) Agent {
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
