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

// Sweep is a list of problems on which agents are compared. The testbed's have a number of seeds for each setting of
// D, T and rho: they are innermost, and that of a problem is its number plus 1.
type Sweep struct {
	Name     string // as the testbed spells it, in lower case
	Problems []Problem
	Seeds    int // problems of each setting: the classes of seeds for a standard error, see [Score]
	Anchors  int // of the test inputs, see [Tests]
}

// Known are the sweeps by name.
var Known = map[string]func() Sweep{"classification_2d": Classification2D, "classification": Classification}

var temperatures = []float64{0.01, 0.1, 0.5}

// Classification2D is the sweep CLASSIFICATION_2D: 210 problems with inputs of two numbers, tested at independent
// inputs.
func Classification2D() Sweep {
	s := Sweep{Name: "classification_2d", Seeds: 10}
	for _, data := range []int{1, 3, 10, 30, 100, 300, 1000} {
		for _, rho := range temperatures {
			s.add(2, data, rho)
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
				s.add(inputs, ratio*inputs, rho)
			}
		}
	}
	return s
}

// add appends the problems of a setting.
func (s *Sweep) add(inputs, data int, rho float64) {
	for range s.Seeds {
		number := len(s.Problems)
		s.Problems = append(s.Problems,
			Problem{Number: number, Inputs: inputs, Data: data, Temperature: rho, Seed: uint64(number) + 1})
	}
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
	for _, p := range s.Problems {
		if seen[p.Number] {
			errs = append(errs, fmt.Errorf("there are two problems of number %d", p.Number))
		}
		seen[p.Number] = true
		errs = append(errs, faults.Prefix(fmt.Sprintf("problem %d: ", p.Number), p.Validate()))
	}
	return faults.Prefix("testbed.Sweep: ", errors.Join(errs...))
}
