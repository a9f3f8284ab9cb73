package explore

import (
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Validate returns an error if a policy cannot decide: the policy is nil, is a pointer although policies are values, or
// has a field out of range.
func Validate(p Policy) error {
	if err := faults.Value("the policy", p); err != nil {
		return err
	}
	var count error
	if n := p.Samples(); n < 1 {
		count = faults.New("N", ", the number of functions for a decision (0 means the default), must be at least 1, got %d", n)
	}
	return errors.Join(faults.Prefix(fmt.Sprintf("%T: ", p), count), faults.Of(p))
}

func (p EpsilonGreedy) Validate() error {
	return faults.Prefix("explore.EpsilonGreedy: ", faults.NotNegative("Anneal", p.Anneal))
}

func (p SquareCB) Validate() error {
	return faults.Prefix("explore.SquareCB: ", faults.NotNegative("Gamma", p.Gamma))
}

func (p UCB) Validate() error { return faults.Prefix("explore.UCB: ", share("Quantile", p.Quantile)) }

func (p TopTwo) Validate() error {
	var count error
	if p.N == 1 {
		count = faults.New("N", "must be at least 2, or 0 for 30, got 1")
	}
	return faults.Prefix("explore.TopTwo: ", errors.Join(count, share("Beta", p.Beta)))
}

// share returns an error unless a number is in (0, 1], or is 0 for the default.
func share(name string, x float64) error {
	if !(x >= 0 && x <= 1) {
		return faults.New(name, "must be in (0, 1], or 0 for the default, got %v", x)
	}
	return nil
}
