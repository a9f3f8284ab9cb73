package testbed

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Taus are the numbers of classes that are predicted at once, each in all problems of a sweep. The testbed lists a
// sweep once for each of them, with the same numbers and seeds: an agent learns a problem once and is tested twice.
var Taus = []int{1, 10}

// Kind is what agents predict in a sweep, and what their score is.
type Kind int

// The two kinds of regression have the same problems, and score one prediction at a time.
const (
	// Classes are drawn by the truth: the score is the truth's log-likelihood of them less the agent's.
	Classes Kind = iota
	// Responses are f(x) with noise: the score is as of classes, and an agent's likelihood of y the mean of the densities
	// N(y; f(x), sigma^2) over [RegressionIndices] functions. The truth scores 0. The exact posterior, whose standard
	// deviation of f(x) is s, scores ln(1 + s^2/sigma^2) / 2 in the mean: no agent scores less.
	Responses
	// Functions have an exact posterior: the score is the divergence, at each test input, of the posterior of f(x) from a
	// Gaussian with the mean and standard deviation of the agent's functions. The exact posterior scores 0.
	Functions
)

// Sweep is a list of problems on which agents are compared. The testbed's have a number of seeds for each setting of
// D, T and rho, or sigma: they are innermost, and that of a problem is its number plus 1.
type Sweep struct {
	Name     string // as the testbed spells it, in lower case
	Kind     Kind
	Problems []Problem
	Seeds    int // problems of each setting: the classes of seeds for a standard error, see [Score]
	Anchors  int // of the test inputs, see [Tests]
}

// Known are the sweeps by name.
var Known = map[string]func() Sweep{"classification_2d": Classification2D, "classification": Classification,
	"regression": Regression, "enn_paper": ENNPaper}

var temperatures = []float64{0.01, 0.1, 0.5}

// Classification2D is the sweep CLASSIFICATION_2D: 210 problems with inputs of two numbers, tested at independent
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

// Classification is the sweep CLASSIFICATION: 180 problems with inputs of 2, 10 and 100 numbers, tested at dyadic
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

// Regression is the sweep REGRESSION: 270 problems with inputs of 1, 10 and 100 numbers, whose responses are predicted.
func Regression() Sweep {
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

// ENNPaper is the sweep ENN_PAPER, of "Epistemic Neural Networks" (Osband et al.): the problems of [Regression], where
// agents are compared with the exact posterior.
func ENNPaper() Sweep {
	s := Regression()
	s.Name, s.Kind = "enn_paper", Functions
	return s
}

// add appends the problems of a setting.
func (s *Sweep) add(p Problem) {
	for range s.Seeds {
		p.Number, p.Seed = len(s.Problems), uint64(len(s.Problems))+1
		s.Problems = append(s.Problems, p)
	}
}

// Taus are how many are predicted at once, where nothing else is said.
func (s Sweep) Taus() []int {
	if s.Kind == Classes {
		return Taus
	}
	return []int{1}
}

// CheckTaus reports numbers of predictions that the sweep does not score together.
func (s Sweep) CheckTaus(taus []int) error {
	for _, tau := range taus {
		if tau < 1 {
			return fmt.Errorf("tau must be at least 1, got %d", tau)
		}
		if s.Kind != Classes && tau > 1 {
			return fmt.Errorf("the sweep %s scores one response at a time: tau must be 1, got %d", s.Name, tau)
		}
	}
	return nil
}

// Few leaves the first few seeds of each setting.
func (s Sweep) Few(seeds int) Sweep {
	s.Problems = slices.DeleteFunc(slices.Clone(s.Problems), func(p Problem) bool { return s.class(p) >= seeds })
	return s
}

// class is the place of a problem among those of its setting.
func (s Sweep) class(p Problem) int { return p.Number % max(s.Seeds, 1) }

// ID is the testbed's name of a problem, as classification_2d/75.
func (s Sweep) ID(p Problem) string { return fmt.Sprintf("%s/%d", s.Name, p.Number) }

// Tests are batches of test inputs as the sweep has them, with tau inputs each; the testbed draws 1000 batches.
func (s Sweep) Tests(tau, batches int) Tests {
	return Tests{Batches: batches, Tau: tau, Anchors: s.Anchors}
}

// Validate reports what is wrong with the sweep, and every fault of its problems.
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
			err = errors.New("problems with Noise are of regression, and those with a Temperature of Classes")
		}
		errs = append(errs, faults.Prefix(fmt.Sprintf("problem %d: ", p.Number), err))
	}
	return faults.Prefix("testbed.Sweep: ", errors.Join(errs...))
}
