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
	count := faults.AtLeast(fmt.Sprintf("%T: N, the number of functions for a decision (0 means the default),", p), p.Samples(), 1)
	return errors.Join(count, faults.Of(p))
}

func (p EpsilonGreedy) Validate() error {
	return faults.NotNegative("explore.EpsilonGreedy: Anneal", p.Anneal)
}

func (p SquareCB) Validate() error { return faults.NotNegative("explore.SquareCB: Gamma", p.Gamma) }

func (p UCB) Validate() error { return share("explore.UCB: Quantile", p.Quantile) }

func (p TopTwo) Validate() error {
	var count error
	if p.N == 1 {
		count = errors.New("explore.TopTwo: N must be at least 2, or 0 for 30, got 1")
	}
	return errors.Join(count, share("explore.TopTwo: Beta", p.Beta))
}

// share returns an error unless a number is in (0, 1], or is 0 for the default.
func share(name string, x float64) error {
	if !(x >= 0 && x <= 1) {
		return fmt.Errorf("%s must be in (0, 1], or 0 for the default, got %v", name, x)
	}
	return nil
}
