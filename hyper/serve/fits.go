package serve

import (
	"fmt"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

// fitting returns the records of a log up to a decision that does not fit a Spec, where it ends with an error.
func fitting(records Records, spec Spec) Records {
	return func(yield func(journal.Record, error) bool) {
		for r, err := range records {
			if err == nil && r.Decision != nil {
				if err = fits(spec, r.Decision); err != nil {
					err = fmt.Errorf("record %d does not fit the agent's file: %w", r.Number, err)
				}
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// fits reports a decision that has other numbers than the names of a Spec, or is not among its arms. A log has numbers
// alone: whether they are those that the names mean, nobody can tell.
func fits(spec Spec, d *journal.Decision) error {
	context, action, numbers := spec.Context.names().Len(), spec.Action.names().Len(), 0
	if len(d.Actions) > 0 {
		numbers = len(d.Actions[0])
	}
	switch {
	case len(d.Context) != context:
		return fmt.Errorf("the decision has a context of %d numbers, and the file a context of %d, of its names and "+
			"buckets", len(d.Context), context)
	case action > 0 && numbers == 0:
		return fmt.Errorf("the decision is among arms: want the file to have arms in place of action")
	case action > 0 && numbers != action:
		return fmt.Errorf("the actions have %d numbers each, and action in the file has %d, of its names and buckets",
			numbers, action)
	case action > 0:
		return nil
	}
	return fitsArms(len(spec.Arms), context == 0, d)
}

// fitsArms reports a decision that is not among a number of arms. Arms without a context are actions of one number.
func fitsArms(arms int, alone bool, d *journal.Decision) error {
	given := slices.Clone(d.Arms)
	for _, x := range d.Actions {
		if !alone || len(x) != 1 || x[0] != float32(int(x[0])) {
			return fmt.Errorf("the actions have %d numbers each: want the file to have action, with as many names, in place "+
				"of arms", len(x))
		}
		given = append(given, int(x[0]))
	}
	switch {
	case len(given) == 0 && len(d.Probabilities) != arms:
		return fmt.Errorf("the decision is among %d arms, and the file has %d", len(d.Probabilities), arms)
	case len(given) > 0 && slices.Max(given) >= arms:
		return fmt.Errorf("the decision may take arm %d, counted from 0, and the file has %d arms", slices.Max(given), arms)
	}
	return nil
}
