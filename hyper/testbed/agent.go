package testbed

import (
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/learner"
)

// Agent is a way to learn, as the testbed tries it: a learner for each shape of a problem, trained by so many SGD steps
// on all the data. Its learner's policy is not used: an agent of the testbed predicts.
type Agent struct {
	Name  string
	About string // what it is, in a line
	// Learner is what the numbers of inputs and data decide. It predicts the log odds of class 1, or the response.
	// Train.Capacity and Train.Inputs are the testbed's to set, and Train.Steps is how many SGD steps a call makes.
	Learner func(inputs, data int) learner.Learner
	// Numbers are what temperature or noise decide beside: some of learner.Learner.Numbers. nil is none.
	Numbers func(p Problem) map[string]float64
	// Steps is the number of SGD steps in all, rounded up to calls.
	Steps func(inputs, data int) int
}

// Validate reports what is wrong with the agent for problems of a shape.
func (a Agent) Validate(inputs, data int) error {
	if a.Name == "" || a.Learner == nil || a.Steps == nil {
		return errors.New("testbed.Agent: it needs a Name, a Learner and Steps")
	}
	l := a.learner(inputs, data)
	errs := []error{l.Validate(), faults.AtLeast("Steps", a.Steps(inputs, data), 1)}
	if !l.FreeSteps {
		errs = append(errs, errors.New("FreeSteps must be set"))
	}
	known := l.Numbers()
	for name := range a.numbers(Problem{Inputs: inputs, Data: data, Temperature: 1, Noise: 1}) {
		if _, ok := known[name]; !ok {
			errs = append(errs, fmt.Errorf("Numbers has %s, which the learner has not", name))
		}
	}
	return faults.Prefix(fmt.Sprintf("agent %s with %d inputs and %d data: ", a.Name, inputs, data), errors.Join(errs...))
}

// learner is the agent's, with its defaults, for the data of a problem.
func (a Agent) learner(inputs, data int) learner.Learner {
	l := a.Learner(inputs, data)
	l.Train.Capacity, l.Train.Inputs = data, inputs
	return l.WithDefaults()
}

// numbers are all of the learner's for a problem.
func (a Agent) numbers(p Problem) map[string]float64 {
	if a.Numbers == nil {
		return nil
	}
	return a.Numbers(p)
}
