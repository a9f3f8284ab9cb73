package testbed

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// defaultTaus lists the numbers of classes that are predicted together; agents are tested with each of them on every
// problem. The testbed lists a sweep once for each tau, with the same numbers and seeds. Here an agent learns a problem
// once and is tested twice.
var defaultTaus = []int{1, 10}

// Kind says what agents predict in a sweep, and how they are scored.
type Kind int

// The two kinds of regression have the same problems, and score one prediction at a time.
const (
	// Classes are drawn by the truth. The score is the truth's log-likelihood of the classes minus the agent's.
	Classes Kind = iota
	// Responses are f(x) plus noise. The score is defined as for classes. An agent's likelihood of y is the mean of the
	// densities N(y; f(x), sigma^2) over 100 functions. The truth scores 0. The exact posterior scores
	// ln(1 + s^2/sigma^2) / 2 on average, where s is its standard deviation of f(x): no agent can score less.
	Responses
	// Functions have an exact posterior. The score at a test input is the divergence of the posterior of f(x) from a
	// Gaussian with the mean and the standard deviation of the agent's functions. The exact posterior scores 0.
	Functions
)

// Sweep is a list of problems on which agents are compared. The testbed's sweeps have several seeds for each setting of
// D, T and rho or sigma. Problems that differ in seed only follow each other, and the seed is the problem number plus
// 1.
type Sweep struct {
	Name     string // the testbed's name in lower case
	Kind     Kind
	Problems []Problem
	// Seeds is the number of problems of each setting. Standard errors compare the i-th problems of all settings.
	Seeds   int
	Anchors int // number of different inputs among tau test inputs; 0 means tau independent inputs
}

// Known maps the name of each sweep to a function that returns the sweep.
var Known = map[string]func() Sweep{"classification_2d": Classification2D, "classification": Classification,
	"regression": regressionSweep, "enn_paper": ennPaper}

var temperatures = []float64{0.01, 0.1, 0.5}

// Classification2D returns the sweep CLASSIFICATION_2D: 210 problems with inputs of 2 numbers, tested at independent
// inputs.
func Classification2D() Sweep {
	s := Sweep{Name: "classification_2d", Seeds: 10}
	for _, data := range []int{1, 3, 10, 30, 100, 300, 1000} {
		for _, rho := range temperatures {
			s.add(Problem{Inputs: 2, Data: data, Temperature: rho})
		}
	}
	return s
}

// Classification returns the sweep CLASSIFICATION: 180 problems with inputs of 2, 10 and 100 numbers, tested at dyadic
// inputs.
func Classification() Sweep {
	s := Sweep{Name: "classification", Seeds: 5, Anchors: 2}
	for _, inputs := range []int{2, 10, 100} {
		for _, ratio := range []int{1, 10, 100, 1000} {
			for _, rho := range temperatures {
				s.add(Problem{Inputs: inputs, Data: ratio * inputs, Temperature: rho})
			}
		}
	}
	return s
}

// regressionSweep returns the sweep REGRESSION: 270 problems with inputs of 1, 10 and 100 numbers. Agents predict
// responses.
func regressionSweep() Sweep {
	s := Sweep{Name: "regression", Kind: Responses, Seeds: 10}
	for _, inputs := range []int{1, 10, 100} {
		for _, ratio := range []int{1, 10, 100} {
			for _, sigma := range []float64{0.01, 0.1, 1} {
				s.add(Problem{Inputs: inputs, Data: ratio * inputs, Noise: sigma})
			}
		}
	}
	return s
}

// ennPaper returns the sweep ENN_PAPER of "Epistemic Neural Networks" (Osband et al.). It has the problems of
// regression, and compares agents to the exact posterior.
func ennPaper() Sweep {
	s := regressionSweep()
	s.Name, s.Kind = "enn_paper", Functions
	return s
}

// add appends the problems of a setting, one for each seed.
func (s *Sweep) add(p Problem) {
	for range s.Seeds {
		p.Number, p.Seed = len(s.Problems), uint64(len(s.Problems))+1
		s.Problems = append(s.Problems, p)
	}
}

// Taus returns the default numbers of joint predictions.
func (s Sweep) Taus() []int {
	if s.Kind == Classes {
		return defaultTaus
	}
	return []int{1}
}

// CheckTaus returns an error if the sweep cannot score one of the numbers of joint predictions.
func (s Sweep) CheckTaus(taus []int) error {
	for i, tau := range taus {
		if slices.Contains(taus[:i], tau) {
			return fmt.Errorf("tau: %d is given twice", tau)
		}
		if tau < 1 {
			return fmt.Errorf("tau must be at least 1, got %d", tau)
		}
		if s.Kind != Classes && tau > 1 {
			return fmt.Errorf("tau: the sweep %s scores one response at a time: tau must be 1, got %d", s.Name, tau)
		}
	}
	return nil
}

// Few returns the sweep with only the first few seeds of each setting.
func (s Sweep) Few(seeds int) Sweep {
	s.Problems = slices.DeleteFunc(slices.Clone(s.Problems), func(p Problem) bool { return s.class(p) >= seeds })
	return s
}

// class returns the seed class of a problem: its position among the problems of its setting.
func (s Sweep) class(p Problem) int { return p.Number % max(s.Seeds, 1) }

// tests returns the sweep's test inputs, with tau inputs in each batch. The testbed draws 1000 batches.
func (s Sweep) tests(tau, batches int) testInputs {
	return testInputs{Batches: batches, Tau: tau, Anchors: s.Anchors}
}

// Validate reports every fault of the sweep and of its problems.
func (s Sweep) Validate() error {
	errs := []error{faults.AtLeast("Seeds", s.Seeds, 1), faults.AtLeast("Anchors", s.Anchors, 0),
		faults.AtLeast("the number of problems", len(s.Problems), 1)}
	seen := map[int]bool{}
	if s.Kind < Classes || s.Kind > Functions {
		errs = append(errs, fmt.Errorf("Kind must be Classes, Responses or Functions, got %d", s.Kind))
	}
	if s.Kind != Classes && s.Anchors > 0 {
		errs = append(errs,
			fmt.Errorf("Anchors are for classes that are predicted together: leave them at 0, got %d", s.Anchors))
	}
	for _, p := range s.Problems {
		if seen[p.Number] {
			errs = append(errs, fmt.Errorf("there are two problems of number %d", p.Number))
		}
		seen[p.Number] = true
		err := p.Validate()
		if err == nil && p.regression() != (s.Kind != Classes) {
			err = errors.New("a problem with Noise needs the Kind Responses or Functions, a Temperature needs Classes")
		}
		errs = append(errs, faults.Prefix(fmt.Sprintf("problem %d: ", p.Number), err))
	}
	return faults.Prefix("testbed.Sweep: ", errors.Join(errs...))
}
