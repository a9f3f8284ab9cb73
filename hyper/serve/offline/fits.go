package offline

import (
	"fmt"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// RecordsFor returns the records with the numbers that a Spec gives to names. It ends with an error at a decision that
// does not fit. A feature that the log did not have at that time is 0.
func (l *Log) RecordsFor(spec api.Spec) Records {
	return func(yield func(journal.Record, error) bool) {
		of := api.Spec{Context: l.context, Action: l.action, Arms: l.arms}
		for r, err := range l.all() {
			if err == nil && r.Features != nil {
				of.Context, of.Action = agentfile.FromJournal(r.Features.Context), agentfile.FromJournal(r.Features.Action)
			}
			if err == nil && r.Decision != nil {
				if err = l.fits(of, r.Decision); err != nil {
					err = fmt.Errorf("record %d does not fit the agent's file: %w", r.Number, err)
				} else {
					translate(r.Decision, of, spec)
				}
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// translate converts the numbers of a decision from one Spec to another.
func translate(d *journal.Decision, from, to api.Spec) {
	d.Context = renumbered(d.Context, from.Context, to.Context)
	if len(to.Arms) == 0 {
		for i := range d.Actions {
			d.Actions[i] = renumbered(d.Actions[i], from.Action, to.Action)
		}
		return
	}
	given := armsOf(d)
	d.Arms, d.Actions = given, nil
	if agentfile.Names(to.Context).Len() == 0 {
		d.Arms = nil
		for _, arm := range given {
			d.Actions = append(d.Actions, []float32{float32(arm)})
		}
	}
}

// armsOf returns the arms that a decision names. An arm without a context is an action with one number.
func armsOf(d *journal.Decision) []int {
	given := slices.Clone(d.Arms)
	for _, x := range d.Actions {
		given = append(given, int(x[0]))
	}
	return given
}

// renumbered converts numbers of features from one Features to another with the same number of buckets.
func renumbered(x []float32, from, to api.Features) []float32 {
	if slices.Equal(from.Names, to.Names) {
		return x
	}
	out := make([]float32, agentfile.Names(to).Len())
	for i, name := range to.Names {
		if at := slices.Index(from.Names, name); at >= 0 {
			out[i] = x[at]
		}
	}
	copy(out[len(to.Names):], x[len(from.Names):])
	if len(out) == 0 {
		return nil
	}
	return out
}

// fits reports a decision whose number of numbers does not fit the names of a Spec, or that does not choose among its
// arms. A log has only numbers, so it cannot be checked whether they mean what the names say.
func (l *Log) fits(spec api.Spec, d *journal.Decision) error {
	context, action, numbers := agentfile.Names(spec.Context).Len(), agentfile.Names(spec.Action).Len(), 0
	if len(d.Actions) > 0 {
		numbers = len(d.Actions[0])
	}
	switch {
	case len(d.Context) != context:
		return fmt.Errorf("the decision has a context of %d numbers, and the file has a context of %d, for its names and "+
			"buckets", len(d.Context), context)
	case action > 0 && numbers == 0:
		return fmt.Errorf("the decision chooses among arms: want the file to have arms instead of action")
	case action > 0 && numbers != action:
		return fmt.Errorf("the actions have %d numbers each, and action in the file has %d, for its names and buckets",
			numbers, action)
	case action > 0:
		return nil
	}
	return l.fitsArms(context == 0, d)
}

// fitsArms reports a decision that does not choose among the arms. An arm without a context is an action with one
// number.
func (l *Log) fitsArms(alone bool, d *journal.Decision) error {
	for _, x := range d.Actions {
		if !alone || len(x) != 1 || x[0] != float32(int(x[0])) {
			return fmt.Errorf("the actions have %d numbers each: want the file to have action, with the same number of names, instead "+
				"of arms", len(x))
		}
	}
	arms, given := len(l.arms), armsOf(d)
	switch n := len(d.Probabilities); {
	case len(given) == 0 && (n > arms || n != arms && !l.changed):
		return fmt.Errorf("the decision chooses among %d arms, and the file has %d", n, arms)
	case len(given) > 0 && slices.Max(given) >= arms:
		return fmt.Errorf("the decision may take arm %d, counted from 0, and the file has %d arms", slices.Max(given), arms)
	}
	return nil
}
