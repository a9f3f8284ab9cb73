package offpolicy

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Options set the level of the interval, and what Evaluate refuses. The zero value means the defaults.
type Options struct {
	Level       float64 // level of the interval, between 0 and 1; 0 means 0.95
	Least       float64 // smallest Freedom of an interval; 0 means 20
	Unsupported float64 // largest probability of the target for actions that the log never takes; 0 means 0.001
}

func (o Options) withDefaults() Options {
	o.Level = cmp.Or(o.Level, 0.95)
	o.Least = cmp.Or(o.Least, 20)
	o.Unsupported = cmp.Or(o.Unsupported, 0.001)
	return o
}

func (o Options) validate() error {
	err := faults.Positive("Options.Least", o.Least)
	if !(o.Level > 0 && o.Level < 1) {
		err = errors.Join(err, fmt.Errorf("Options.Level must be between 0 and 1, got %v", o.Level))
	}
	if !(o.Unsupported > 0 && o.Unsupported <= 1) {
		err = errors.Join(err, fmt.Errorf("Options.Unsupported must be a probability above 0, got %v", o.Unsupported))
	}
	return err
}
