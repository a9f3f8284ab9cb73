package catalog

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
	"github.com/hypermodels/hypermodels/hyper/learner"
)

// For returns the learner of a name in [Learners] for a problem, for example for a service. settings is a JSON object
// of keys and values, for example from a record of `hyper tune`; nil means the learner's defaults. The error says what
// is wrong, and lists the valid names or keys.
func For(name string, p bandit.Problem, settings json.RawMessage) (learner.Learner, error) {
	create, err := Find(name)
	if err != nil {
		return learner.Learner{}, err
	}
	m := create(p.Features == 0)
	if settings != nil {
		if err := SetAll(m, settings); err != nil {
			return learner.Learner{}, fmt.Errorf("learner %s: %w", name, err)
		}
	}
	if err := m.Validate(&p); err != nil {
		return learner.Learner{}, fmt.Errorf("learner %s: %w", name, err)
	}
	l := m.Learner(p, 1)
	l.Train.Capacity = 0 // the agent has its own capacity
	return l, nil
}

// Find returns the function of a name in [Learners]. The error lists the names.
func Find(name string) (func(arms bool) LearnerMaker, error) {
	e, ok := makers.find(name)
	names := makers.names()
	if name == "" {
		return nil, fmt.Errorf("learner is missing; the learners are %s", strings.Join(names, ", "))
	}
	if !ok {
		return nil, fmt.Errorf("unknown learner %q%s; choose %s", name, nearest.Hint(name, names),
			strings.Join(names, ", "))
	}
	return e.Value, nil
}
