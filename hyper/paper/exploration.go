package paper

import (
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/explore"
)

// Exploration is the part of a setting that says how an agent decides: any policy goes with any hypermodel and environment.
type Exploration struct {
	Policy  string  `key:"policy" help:"thompson, ids, greedy, egreedy, ucb or top-two"`
	Samples int     `key:"policy-samples" help:"functions drawn for each decision; 0 is 1 for thompson, greedy and egreedy, 100 for ids and ucb, 30 for top-two"`
	Anneal  float64 `key:"anneal" run:"true" help:"c of egreedy, which explores in period t with probability c / (c + t)"`
}

func thompson() Exploration { return Exploration{Policy: "thompson", Anneal: 30} }

// Validate reports what is wrong.
func (e Exploration) Validate() error {
	_, err := explore.Named(e.Policy, e.Samples)
	errs := []error{err, atLeast("policy-samples", e.Samples, 0), positive("anneal", e.Anneal)}
	if e.Policy == "top-two" && e.Samples == 1 {
		errs = append(errs, fmt.Errorf("top-two needs policy-samples of at least 2, got 1"))
	}
	return errors.Join(errs...)
}

// policy is the one that a valid setting names.
func (e Exploration) policy() explore.Policy {
	p, _ := explore.Named(e.Policy, e.Samples)
	return p
}
