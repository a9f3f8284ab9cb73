package learners

import (
	"fmt"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Add adds a belief to [Known] under a name. An agent of that name can then run in every experiment, in services and in
// the commands of a program. The fields of the belief that have a `help` tag are its settings. Call Add from main or
// init, before anything else uses Known; it is not safe for concurrent use. The error says that the name is empty or
// taken.
func Add(name string, b hyper.Sized) error {
	if _, taken := Known[name]; taken || name == "" {
		return fmt.Errorf("a belief needs a name that no learner has, got %q", name)
	}
	lab.Beliefs = append(lab.Beliefs, lab.Choice{Name: name, Value: b})
	Known[name] = func(bool) lab.Learner { return NewGeneric(b) }
	return nil
}
