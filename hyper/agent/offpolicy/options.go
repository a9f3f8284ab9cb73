package offpolicy

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Options say what interval is wanted, and what is refused. The zero value is the defaults.
type Options struct {
	Interval    Interval // nil is Hall{}
	Level       float64  // of the interval, between 0 and 1; 0 is 0.95
	Least       float64  // the Freedom below which there is no interval, but for Bernstein's; 0 is 20
	Unsupported float64  // the largest probability of the target on actions that the log never takes; 0 is 0.001
}

func (o Options) withDefaults() Options {
	if o.Interval == nil {
		o.Interval = Hall{}
	}
	o.Level = cmp.Or(o.Level, 0.95)
	o.Least = cmp.Or(o.Least, 20)
	o.Unsupported = cmp.Or(o.Unsupported, 0.001)
	return o
}

func (o Options) validate() error {
	if err := faults.Value("Options.Interval", o.Interval); err != nil {
		return err
	}
	err := errors.Join(o.Interval.validate(), faults.Positive("Options.Least", o.Least))
	if !(o.Level > 0 && o.Level < 1) {
		err = errors.Join(err, fmt.Errorf("Options.Level must be between 0 and 1, got %v", o.Level))
	}
	if !(o.Unsupported > 0 && o.Unsupported <= 1) {
		err = errors.Join(err, fmt.Errorf("Options.Unsupported must be a probability above 0, got %v", o.Unsupported))
	}
	return err
}
