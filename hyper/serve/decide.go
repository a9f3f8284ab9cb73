package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

// Request is what /v1/decide asks: among which actions, in which context.
type Request struct {
	// Context are features by name; those left out are 0. It must be there, be it empty, where the agent knows names.
	Context map[string]any `json:"context,omitzero"`
	// Arms are those there are, where the agent has arms; none is all of them.
	Arms []string `json:"arms,omitempty"`
	// Actions are those there are, where actions have features.
	Actions []Action `json:"actions,omitempty"`
	// Deferred says that the decision is shown later, or never, which /v1/shown is told.
	Deferred bool `json:"deferred,omitempty"`
	// List is the number of places of a list, which as many actions are chosen for; 0 is one action and no list.
	List int `json:"list,omitempty"`
}

// Action is an action by its features. ID is the client's own name for it, which the answer repeats.
type Action struct {
	ID       string         `json:"id,omitempty"`
	Features map[string]any `json:"features"`
}

// Answer is the decision.
type Answer struct {
	ID            string    `json:"id"`     // names the decision in a Reward; "" where the server only reads
	Action        int       `json:"action"` // the place of the action among those of the request
	Name          string    `json:"name,omitempty"`
	Probability   float32   `json:"probability"`
	Probabilities []float32 `json:"probabilities"`  // of all actions of the request; 0 for those before it in the list
	List          []Answer  `json:"list,omitempty"` // one for each place, the first of which is this one
}

func (s *Server) decide(ctx context.Context, r *Request) (*Answer, error) {
	begun := time.Now()
	a, done := s.agent()
	defer done()
	m, names, err := menu(a, r, s.options.MostActions)
	if err == nil {
		err = checkContext(a.spec, r)
	}
	switch {
	case errors.Is(err, agent.ErrNotFinite):
		return nil, err // 422
	case err != nil:
		return nil, bad("%w", err)
	}
	m.Deferred = r.Deferred
	if r.List < 0 || r.List > len(names) {
		return nil, bad("list must be from 0 to %d, the number of actions, got %d", len(names), r.List)
	}
	var list []agent.Decision
	if r.List > 0 {
		list, err = a.DecideList(ctx, m, r.List)
	} else {
		var d agent.Decision
		d, err = a.Decide(ctx, m)
		list = []agent.Decision{d}
	}
	if err != nil {
		return nil, err
	}
	took := time.Since(begun) / time.Duration(len(list))
	answers := make([]Answer, len(list))
	for i, d := range list {
		s.decided(a, m, d, names[d.Action], took)
		answers[i] = Answer{ID: d.ID, Action: d.Action, Name: names[d.Action], Probability: float32(d.Prob()),
			Probabilities: d.Probabilities}
	}
	out := answers[0]
	if r.List > 0 {
		out.List = answers
	}
	return &out, nil
}

// decided notes a decision for metrics, the page and calibration.
func (s *Server) decided(a served, m agent.Menu, d agent.Decision, name string, took time.Duration) {
	s.metrics.decided(d)
	s.recent.decided(m, d)
	if len(a.spec.Arms) == 0 {
		name = ""
	}
	wait := time.Duration(a.spec.Reward.Wait)
	s.active.decided(d.ID, name, took, wait, a.Settled)
	if s.source == nil {
		s.calib.decided(a.Agent, m, d, wait)
	}
}

// checkContext reports a request that lacks a context of which the agent knows names: one that was forgotten must not
// pass for one in which all is 0.
func checkContext(spec Spec, r *Request) error {
	if r.Context != nil || len(spec.Context.Names) == 0 {
		return nil
	}
	return fmt.Errorf("context is missing: its features are %.200s; {} is one in which all are 0",
		strings.Join(spec.Context.Names, ", "))
}

// menu is what the agent chooses from, at most a number of actions, with the names of the actions.
func menu(of served, r *Request, most int) (m agent.Menu, names []string, err error) {
	spec := of.spec
	if n := max(len(r.Actions), len(r.Arms)); n > most {
		return m, nil, fmt.Errorf("a decision is among %d actions at most, got %d; send less, or start hyper serve with "+
			"--max-actions", most, n)
	}
	context, err := spec.Context.names().Numbers(r.Context)
	if err != nil {
		return m, nil, faults.Prefix("context: ", err)
	}
	if len(context) > 0 {
		m.Context = context
	}
	if len(spec.Arms) > 0 {
		return of.withArms(m, r)
	}
	if len(r.Arms) > 0 || len(r.Actions) == 0 {
		return m, nil, errors.New("actions must be given, each by its features, and no arms")
	}
	for i, a := range r.Actions {
		if a.Features == nil {
			return m, nil, fmt.Errorf("actions[%d].features is missing; {} are features that are all 0", i)
		}
		x, err := spec.Action.names().Numbers(a.Features)
		if err != nil {
			return m, nil, faults.Prefix(fmt.Sprintf("actions[%d].features: ", i), err)
		}
		m.Actions, names = append(m.Actions, x), append(names, a.ID)
	}
	return m, names, nil
}

// withArms adds the arms of a request to a menu.
func (a served) withArms(m agent.Menu, r *Request) (agent.Menu, []string, error) {
	all := a.spec.Arms
	if len(r.Actions) > 0 {
		return m, nil, errors.New("actions must be left out: the agent chooses among arms, which have no features; " +
			"give arms, or nothing for all")
	}
	switch {
	case r.Arms == nil && a.whole:
		return m, all, nil
	case r.Arms == nil:
		m.Arms = slices.Clone(a.places)
		return a.alone(m), all, nil
	case len(r.Arms) == 0:
		return m, nil, errors.New("arms must have one at least, or be left out for all")
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
		m.Arms = append(m.Arms, a.places[at])
	}
	return a.alone(m), r.Arms, nil
}

// alone is the menu of arms without a context, which are inputs themselves.
func (a served) alone(m agent.Menu) agent.Menu {
	if m.Context == nil {
		for _, at := range m.Arms {
			m.Actions = append(m.Actions, []float32{float32(at)})
		}
		m.Arms = nil
	}
	return m
}
