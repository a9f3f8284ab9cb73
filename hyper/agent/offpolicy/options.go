package offpolicy

import (
	"cmp"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Options say what interval is wanted, and what is refused. The zero value is the defaults.
type Options struct {
	Level       float64 // of the interval, between 0 and 1; 0 is 0.95
	Least       float64 // the Freedom below which there is no interval; 0 is 40
	Unsupported float64 // the largest probability of the target on actions that the log never takes; 0 is 0.001
	// Bernstein asks for an interval that holds for any number of decisions, which Least does not bound. nil is
	// Hall's.
	Bernstein *Bernstein
}

func (o Options) withDefaults() Options {
	o.Level = cmp.Or(o.Level, 0.95)
	o.Least = cmp.Or(o.Least, 40)
	o.Unsupported = cmp.Or(o.Unsupported, 0.001)
	return o
}

func (o Options) validate() error {
	if !(o.Level > 0 && o.Level < 1) {
		return fmt.Errorf("Options.Level must be between 0 and 1, got %v", o.Level)
	}
	if err := faults.Positive("Options.Least", o.Least); err != nil {
		return err
	}
	if !(o.Unsupported > 0 && o.Unsupported <= 1) {
		return fmt.Errorf("Options.Unsupported must be a probability above 0, got %v", o.Unsupported)
	}
	if o.Bernstein != nil {
		return o.Bernstein.validate()
	}
	return nil
}
