package explore

import (
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Validate reports why a policy cannot decide: it is nil, a pointer where a value is matched by its type, or has a
// wrong number.
func Validate(p Policy) error {
	if err := faults.Value("the policy", p); err != nil {
		return err
	}
	if err := faults.Of(p); err != nil {
		return err
	}
	return faults.AtLeast(fmt.Sprintf("%T: the number of functions for a decision", p), p.Samples(), 1)
}

// Validate reports what is wrong.
func (p Thompson) Validate() error { return faults.AtLeast("explore.Thompson: N", p.N, 0) }

// Validate reports what is wrong.
func (p Greedy) Validate() error { return faults.AtLeast("explore.Greedy: N", p.N, 0) }

// Validate reports what is wrong.
func (p EpsilonGreedy) Validate() error {
	return errors.Join(faults.AtLeast("explore.EpsilonGreedy: N", p.N, 0),
		faults.NotNegative("explore.EpsilonGreedy: Anneal", p.Anneal))
}

// Validate reports what is wrong.
func (p IDS) Validate() error { return faults.AtLeast("explore.IDS: N", p.N, 0) }

// Validate reports what is wrong.
func (p UCB) Validate() error {
	return errors.Join(faults.AtLeast("explore.UCB: N", p.N, 0), share("explore.UCB: Quantile", p.Quantile))
}

// Validate reports what is wrong.
func (p TopTwo) Validate() error {
	count := faults.AtLeast("explore.TopTwo: N", p.N, 0)
	if p.N == 1 {
		count = errors.New("explore.TopTwo: N must be at least 2, or 0 for 30, got 1")
	}
	return errors.Join(count, share("explore.TopTwo: Beta", p.Beta))
}

// share reports a number that is not in (0, 1], nor 0 for a default.
func share(name string, x float64) error {
	if !(x >= 0 && x <= 1) {
		return fmt.Errorf("%s must be in (0, 1], or 0 for its default, got %v", name, x)
	}
	return nil
}
