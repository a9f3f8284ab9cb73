package learners

import (
	"fmt"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Add adds a belief to the catalogue: an agent of that name runs in every experiment, in services and in the command's
// own functions, with the fields that have a `help` tag as its settings. Call it before anything else uses the
// catalogue, from main or init; it is not safe for concurrent use. The error says that the name is taken.
func Add(name string, b hyper.Sized) error {
	if _, taken := Known[name]; taken || name == "" {
		return fmt.Errorf("a belief needs a name that no learner has, got %q", name)
	}
	lab.Beliefs = append(lab.Beliefs, lab.Choice{Name: name, Value: b})
	Known[name] = func(bool) lab.Learner { return NewGeneric(b) }
	return nil
}
