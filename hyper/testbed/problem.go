package testbed

import (
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Problem is one problem of a sweep: classification if it has a Temperature, regression if it has Noise. An agent may
// depend on everything but the seed.
type Problem struct {
	Number int `json:"number"` // in its sweep, from 0
	Inputs int `json:"inputs"` // D: the length of an input
	Data   int `json:"data"`   // T: number of pairs of an input and its class, or response, to learn from
	// Temperature is rho: the truth's logits are divided by rho. It is the only noise of classes.
	Temperature float64 `json:"temperature,omitempty"`
	Noise       float64 `json:"noise,omitempty"` // sigma, the standard deviation of a response's noise
	Seed        uint64  `json:"seed"`            // determines the truth, the data and the test inputs
}

// Validate reports every number that is out of its range.
func (p Problem) Validate() error {
	errs := errors.Join(faults.AtLeast("Number", p.Number, 0), faults.AtLeast("Inputs", p.Inputs, 1),
		faults.AtLeast("Data", p.Data, 1), p.noise())
	if errs == nil {
		errs = faults.Size("the data", p.Data, p.Inputs)
	}
	if errs == nil && p.regression() {
		errs = faults.Size("the covariance of the responses", p.Data, p.Data)
	}
	return faults.Prefix("testbed.Problem: ", errs)
}

// noise reports a fault of the temperature of classes, or of the noise of responses.
func (p Problem) noise() error {
	switch {
	case !p.regression():
		return faults.Positive("Temperature", p.Temperature)
	case p.Temperature != 0:
		return fmt.Errorf("Temperature, for classification, is %v and Noise, for regression, is %v: leave one at 0",
			p.Temperature, p.Noise)
	}
	return faults.Positive("Noise", p.Noise)
}

// regression reports whether the problem is a regression problem.
func (p Problem) regression() bool { return p.Noise != 0 }

// processTruth returns the distribution of the truth of a regression problem.
func (p Problem) processTruth() processTruth { return processTruth{Inputs: p.Inputs, Noise: p.Noise} }
