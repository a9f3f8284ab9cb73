package testbed

import (
	"errors"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Problem is a classification problem of a sweep. An agent is told all of it but the seed.
type Problem struct {
	Number      int     `json:"number"`      // in its sweep, from 0
	Inputs      int     `json:"inputs"`      // D: the length of an input
	Data        int     `json:"data"`        // T: pairs of an input and its class to learn from
	Temperature float64 `json:"temperature"` // rho: the truth's logits are divided by it, the only noise there is
	Seed        uint64  `json:"seed"`        // of the truth, the data and the test inputs
}

// Validate reports every number that is out of its range.
func (p Problem) Validate() error {
	errs := errors.Join(faults.AtLeast("Number", p.Number, 0), faults.AtLeast("Inputs", p.Inputs, 1),
		faults.AtLeast("Data", p.Data, 1), faults.Positive("Temperature", p.Temperature))
	if errs == nil {
		errs = faults.Size("the data", p.Data, p.Inputs)
	}
	return faults.Prefix("testbed.Problem: ", errs)
}

// Environment is what draws the problem's truth.
func (p Problem) Environment() Environment { return Environment{Inputs: p.Inputs} }
