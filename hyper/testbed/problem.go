package testbed

import (
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Problem is a problem of a sweep: of classification where it has a Temperature, and of regression where it has Noise.
// An agent is told all of it but the seed.
type Problem struct {
	Number int `json:"number"` // in its sweep, from 0
	Inputs int `json:"inputs"` // D: the length of an input
	Data   int `json:"data"`   // T: pairs of an input and its class, or response, to learn from
	// Temperature is rho: the truth's logits are divided by it, the only noise of classes.
	Temperature float64 `json:"temperature,omitempty"`
	Noise       float64 `json:"noise,omitempty"` // sigma, the standard deviation of a response's noise
	Seed        uint64  `json:"seed"`            // of the truth, the data and the test inputs
}

// Validate reports every number that is out of its range.
func (p Problem) Validate() error {
	errs := errors.Join(faults.AtLeast("Number", p.Number, 0), faults.AtLeast("Inputs", p.Inputs, 1),
		faults.AtLeast("Data", p.Data, 1), p.noise())
	if errs == nil {
		errs = faults.Size("the data", p.Data, p.Inputs)
	}
	if errs == nil && p.regression() {
		errs = errors.Join(p.Process().Validate(), faults.Size("the covariance of the responses", p.Data, p.Data))
	}
	return faults.Prefix("testbed.Problem: ", errs)
}

// noise reports what is wrong with the noise of classes, or of responses.
func (p Problem) noise() error {
	switch {
	case !p.regression():
		return faults.Positive("Temperature", p.Temperature)
	case p.Temperature != 0:
		return fmt.Errorf("it has the Temperature %v of classification and the Noise %v of regression: leave one at 0",
			p.Temperature, p.Noise)
	}
	return faults.Positive("Noise", p.Noise)
}

// regression tells whether the problem is one of regression.
func (p Problem) regression() bool { return p.Noise != 0 }

// Environment is what draws the truth of a problem of classification.
func (p Problem) Environment() Environment { return Environment{Inputs: p.Inputs} }

// Process is what draws the truth of a problem of regression.
func (p Problem) Process() Process { return Process{Inputs: p.Inputs, Noise: p.Noise} }
