package testbed

import (
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Entered is an agent for a sweep with a learner of one's own, such as one of package lab's learners: of makes it for a
// world of inputs of a number of features, and so many data. It is trained by so many SGD steps, where it is trained by
// SGD. Classes are learned with the logistic loss, and without perturbations of the data. Responses are learned as they
// are, not standardised, with their noise known. All else is the learner's.
func Entered(s Sweep, name string, of func(p bandit.Problem, data int) learner.Learner, sgdSteps int) Agent {
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
