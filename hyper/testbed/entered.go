package testbed

import (
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Entered is an agent with a learner of one's own, such as one of package lab's learners: of makes it for a world of
// inputs of a number of features, and so many data. It is trained by so many SGD steps, with the logistic loss and
// without perturbations of the data; all else is the learner's.
func Entered(name string, of func(p bandit.Problem, data int) learner.Learner, sgdSteps int) Agent {
	return Agent{Name: name, About: "entered by hand", Steps: steps(sgdSteps),
		Learner: func(inputs, data int) learner.Learner {
			l := of(bandit.Problem{Actions: 2, Features: inputs, Moves: true}, data)
			l.FreeSteps, l.Perturbation = true, -1
			l.Train.Loss, l.Train.Steps = train.LogisticLoss{}, callSteps
			return l
		},
	}
}
