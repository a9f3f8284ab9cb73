package testbed

import (
	"encoding/json"

	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// FromCatalog returns an agent for a sweep that uses a learner of the catalogue, with settings as JSON: see
// [catalog.For]. FromLearner describes the training. The error says what is wrong with the settings.
func FromCatalog(s Sweep, name, kind string, settings json.RawMessage, sgdSteps int) (Agent, error) {
	if _, err := catalog.For(kind, bandit.Problem{Features: 2}, settings); err != nil {
		return Agent{}, err
	}
	return FromLearner(s, name, func(p bandit.Problem, _ int) learner.Learner {
		l, _ := catalog.For(kind, p, settings) // the agent's Validate reports faults of a shape
		return l
	}, sgdSteps), nil
}

// FromLearner returns an agent for a sweep that uses a learner of the caller. The function of returns the learner for a
// world with a given number of features, and for a number of data. If the learner is trained by SGD, it makes sgdSteps
// steps. Classes are learned with the logistic loss, and without perturbations of the data. Responses are learned
// without standardisation, with known noise. All other settings are the learner's own.
func FromLearner(s Sweep, name string, of func(p bandit.Problem, data int) learner.Learner, sgdSteps int) Agent {
	a := Agent{Name: name, About: "entered by hand", Steps: steps(sgdSteps),
		Learner: func(inputs, data int) learner.Learner {
			l := of(bandit.Problem{Actions: 2, Features: inputs, Moves: true}, data)
			l.FreeSteps, l.Train.Steps = true, callSteps
			if s.Kind == Classes {
				l.Train.Loss, l.Perturbation = train.LogisticLoss{}, -1
			} else {
				l.Train.Loss, l.Train.Standardize = train.Gaussian{}, false
			}
			return l
		},
	}
	if s.Kind != Classes {
		a.Numbers = func(p Problem) map[string]float64 {
			return map[string]float64{"NoiseVariance": p.Noise * p.Noise}
		}
	}
	return a
}
