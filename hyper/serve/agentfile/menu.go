package agentfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// Choices translates the names in requests to the numbers of an agent.
type Choices struct {
	Spec   api.Spec
	Places []int // the agent's number of each of the Spec's arms
	Whole  bool  // whether these are all arms of the agent, in the order of their numbers
}

// checkContext reports a request without a context, if the Spec names features of the context. A forgotten context must
// not count as a context in which all features are 0.
func checkContext(spec api.Spec, r *api.DecisionRequest) error {
	if r.Context != nil || len(spec.Context.Names) == 0 {
		return nil
	}
	return fmt.Errorf("context is missing: its features are %.200s; {} is a context in which all are 0",
		strings.Join(spec.Context.Names, ", "))
}

// Menu returns the agent's menu of a request with at most most actions, and the names of the actions.
func (c Choices) Menu(r *api.DecisionRequest, most int) (m agent.Menu, names []string, err error) {
	if m, names, err = c.uncheckedMenu(r, most); err == nil {
		err = checkContext(c.Spec, r)
	}
	return m, names, err
}

// uncheckedMenu is Menu without the check of a missing context.
func (c Choices) uncheckedMenu(r *api.DecisionRequest, most int) (m agent.Menu, names []string, err error) {
	spec := c.Spec
	if n := max(len(r.Actions), len(r.Arms)); n > most {
		return m, nil, fmt.Errorf("a decision may have at most %d actions, got %d; send fewer, or start hyper serve with "+
			"--max-actions", most, n)
	}
	context, err := Names(spec.Context).Numbers(r.Context)
	if err != nil {
		return m, nil, faults.Prefix("context: ", err)
	}
	if len(context) > 0 {
		m.Context = context
	}
	if len(spec.Arms) > 0 {
		return c.withArms(m, r)
	}
	if len(r.Arms) > 0 || len(r.Actions) == 0 {
		return m, nil, errors.New("actions must be given, each by its features, and arms left out")
	}
	if n, most := len(r.Actions)*Names(spec.Action).Len(), journal.MaxBytes/4; n > most {
		return m, nil, fmt.Errorf("%d actions of %d features have %d numbers, and a decision may have at most %d: send "+
			"fewer actions", len(r.Actions), Names(spec.Action).Len(), n, most)
	}
	for i, a := range r.Actions {
		if a.Features == nil {
			return m, nil, fmt.Errorf("actions[%d].features is missing; {} means that all features are 0", i)
		}
		x, err := Names(spec.Action).Numbers(a.Features)
		if err != nil {
			return m, nil, faults.Prefix(fmt.Sprintf("actions[%d].features: ", i), err)
		}
		m.Actions, names = append(m.Actions, x), append(names, a.ID)
	}
	return m, names, nil
}

// withArms adds the arms of a request to a menu.
func (c Choices) withArms(m agent.Menu, r *api.DecisionRequest) (agent.Menu, []string, error) {
	all := c.Spec.Arms
	if len(r.Actions) > 0 {
		return m, nil, errors.New("actions must be left out: the agent chooses among arms, which have no features; " +
			"give arms, or leave arms out for all")
	}
	switch {
	case r.Arms == nil && c.Whole:
		return m, all, nil
	case r.Arms == nil:
		m.Arms = slices.Clone(c.Places)
		return c.armsAsActions(m), all, nil
	case len(r.Arms) == 0:
		return m, nil, errors.New("arms must have at least one arm, or be left out for all")
	}
	for i, name := range r.Arms {
		at := slices.Index(all, name)
		if at < 0 {
			return m, nil, fmt.Errorf("arms[%d]: unknown arm %.40q%s; the arms are %.200s", i, name, nearest.Hint(name, all),
				strings.Join(all, ", "))
		}
		if slices.Contains(r.Arms[:i], name) {
			return m, nil, fmt.Errorf("arms[%d]: arm %.40q is given twice", i, name)
		}
		m.Arms = append(m.Arms, c.Places[at])
	}
	return c.armsAsActions(m), r.Arms, nil
}

// armsAsActions moves the arms of a menu without a context to its actions.
func (c Choices) armsAsActions(m agent.Menu) agent.Menu {
	if m.Context == nil {
		for _, at := range m.Arms {
			m.Actions = append(m.Actions, []float32{float32(at)})
		}
		m.Arms = nil
	}
	return m
}
