package approx

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// Options holds the goal and the settings of Certify. Epsilon and Delta are required; all other fields have defaults.
type Options struct {
	Epsilon      float64       // in the units of the functions' values
	Delta        float64       // in (0, 1)
	Reference    Reference     // "" is Uniform
	Construction Construction  // nil is the default of the transport map
	Draws        int           // number of fresh z of a certificate; 0 is 20,000
	Seed         uint64        // determines all random numbers
	Budget       time.Duration // no refinement begins later; 0 is 2 minutes
	Backend      string        // as for backend.Open
}

func (o Options) withDefaults() Options {
	o.Reference = cmp.Or(o.Reference, Uniform)
	o.Draws = cmp.Or(o.Draws, 20_000)
	o.Budget = cmp.Or(o.Budget, 2*time.Minute)
	o.Backend = cmp.Or(o.Backend, backend.Default())
	return o
}

// With less, the networks would have too many units, or single precision too few digits.
const leastEpsilon, leastDelta = 1e-6, 1e-9

// Validate reports every fault of the options.
func (o Options) Validate() error {
	o = o.withDefaults()
	var errs []error
	if !positive(o.Epsilon) || o.Epsilon < leastEpsilon {
		errs = append(errs, fmt.Errorf("epsilon must be at least %g and finite, got %v", leastEpsilon, o.Epsilon))
	}
	if !(o.Delta >= leastDelta && o.Delta < 1) {
		errs = append(errs, fmt.Errorf("delta must be at least %g and below 1, got %v", leastDelta, o.Delta))
	}
	if o.Draws < 1 || o.Draws > 10_000_000 {
		errs = append(errs, fmt.Errorf("draws must be from 1 to 10,000,000, got %d", o.Draws))
	}
	if o.Budget < 0 {
		errs = append(errs, fmt.Errorf("the budget must be positive, got %v", o.Budget))
	}
	return errors.Join(append(errs, o.Reference.Validate(), backend.Check(o.Backend))...)
}
