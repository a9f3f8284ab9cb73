package testbed

import (
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/learner"
)

// Agent is a learning method that the testbed can evaluate: a learner for each shape of a problem, and the number of
// SGD steps that train the learner on all the data. The learner's policy is not used: an agent of the testbed only
// predicts.
type Agent struct {
	Name string
	Made string // distinguishes agents of the same name; "" for an agent of the testbed
	// Learner returns the learner for a number of inputs and a number of data. The learner predicts the log odds of
	// class 1, or the response. The testbed sets Train.Capacity and Train.Inputs. Train.Steps is the number of SGD
	// steps of one call.
	Learner func(inputs, data int) learner.Learner
	// Numbers returns the numbers that depend on the temperature or the noise: some of learner.Learner.Numbers. nil is
	// none.
	Numbers func(p Problem) map[string]float64
	// Steps returns the total number of SGD steps. The number is rounded up to whole calls.
	Steps func(inputs, data int) int
}

// Validate reports every fault of the agent for problems with a number of inputs and a number of data.
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
			errs = append(errs, fmt.Errorf("Numbers has %s, which the learner does not have", name))
		}
	}
	return faults.Prefix(fmt.Sprintf("agent %s with %d inputs and %d data: ", a.Name, inputs, data), errors.Join(errs...))
}

// learner returns the agent's learner for the data of a problem, with defaults filled in.
func (a Agent) learner(inputs, data int) learner.Learner {
	l := a.Learner(inputs, data)
	l.Train.Capacity, l.Train.Inputs = data, inputs
	return l.WithDefaults()
}

// numbers returns all of the agent's numbers for a problem.
func (a Agent) numbers(p Problem) map[string]float64 {
	if a.Numbers == nil {
		return nil
	}
	return a.Numbers(p)
}
